/**
 * Requests that the recording left out (kept back, or made by a helper that did not record) and that later
 * exchanges stand on. Each is sent before the exchange that it names; `learn` is what the recorded server must have
 * answered, as far as later exchanges show it, so that its ids can be mapped.
 */

const AGENT = 'fe096781-5601-53d2-b2f6-0d3403f7e9ca'
const COUNTER = '09d6caf4-2ef3-5a8b-b1a7-114690ed5d45'
const FAILING = '7dfb5300-69cc-586d-be0d-9adc6b95ff79'
const INTERRUPTING = 'b36cd173-3273-5443-bcde-dfec8278e2f2'
const FIRST_CONTEXT = '4af12fa5-1a9c-4229-99d7-f8f8e8b38a93'
const JSON_HEADERS = { accept: '*/*', 'content-type': 'application/json' }

const post = (path, body) => ({ method: 'POST', path, headers: JSON_HEADERS, body: JSON.stringify(body) })

/** A `message/send` whose task got this id. */
function sent(before, assistant, task, messageId, text) {
  const [contextId] = task.split(':')
  return { ...said(before, assistant, { messageId, text }), learn: { result: { id: task, contextId } } }
}

/** A `message/send` of which nothing is needed but that it was made. */
function said(before, assistant, { messageId, text, contextId }) {
  const message = {
    role: 'user',
    messageId,
    parts: [{ kind: 'text', text }],
    ...(contextId ? { contextId } : {}),
  }
  const call = { jsonrpc: '2.0', id: '1', method: 'message/send', params: { message } }
  return { before, request: post(`/a2a/${assistant}`, call) }
}

const run = (assistant) => ({
  assistant_id: assistant,
  input: { messages: [{ role: 'human', content: 'hello' }] },
})

/** @type {{before: string, request: import('./exchanges.mjs').RecordedRequest, learn?: unknown, header?: string}[]} */
export const PRELUDES = [
  {
    before: '2-create-context',
    request: post('/assistants', {
      graph_id: 'agent',
      config: { configurable: { prefix: 'CFG' } },
      metadata: { a: 1 },
      name: 'N',
      description: 'D',
    }),
    learn: { assistant_id: 'edccc2e7-706d-4bd8-b775-cd143d838ec1' },
  },
  { before: '3-create-ttl', request: post('/threads', {}) },
  {
    before: '4-interrupting-run',
    request: post('/threads', {}),
    learn: { thread_id: '01a1fc30-d66a-7624-bb72-b14cbdb531f9' },
  },
  {
    before: '4-interrupting-run',
    request: post('/threads/01a1fc30-d66a-7624-bb72-b14cbdb531f9/runs/wait', run('interrupting')),
    header: '/threads/01a1fc30-d66a-7624-bb72-b14cbdb531f9/runs/01a1fc30-d66b-70cb-91be-7767cdc28130',
  },
  {
    before: '4-resume-failing-1',
    request: post('/threads', {}),
    learn: { thread_id: '01a1fc35-b56f-76b0-b9cd-0947525f6d6e' },
  },
  {
    before: '4-resume-failing-1',
    request: post('/threads/01a1fc35-b56f-76b0-b9cd-0947525f6d6e/runs/stream', {
      ...run('failing'),
      stream_mode: 'updates',
      stream_resumable: true,
    }),
    header: '/threads/01a1fc35-b56f-76b0-b9cd-0947525f6d6e/runs/01a1fc35-b570-71d0-b20f-e311da055314',
  },
  sent(
    '7-send-thread',
    AGENT,
    '4af12fa5-1a9c-4229-99d7-f8f8e8b38a93:01a1fc3a-6914-7752-8ce9-087a50c75e5a',
    'm-81b71c',
    'hello',
  ),
  said('7-send-historyscope-task', COUNTER, {
    messageId: 'm-fifth',
    text: 'fifth',
    contextId: FIRST_CONTEXT,
  }),
  said('7-send-metadata', AGENT, { messageId: 'm-eighth', text: '8th', contextId: FIRST_CONTEXT }),
  said('7-send-metadata', AGENT, { messageId: 'm-99e6c6', text: '9th' }),
  sent(
    '7-get-failed',
    FAILING,
    '7e192cf3-3a6f-4310-9453-f67272f19b1b:01a1fc3d-4536-7434-a25c-70d28ab0cdde',
    'm-87e691',
    'x',
  ),
  sent(
    '7-get-interrupted',
    INTERRUPTING,
    '2a876829-7fd1-4d74-94d5-0596e1e4edc4:01a1fc3d-494c-7533-a4b1-8701404e457e',
    'm-7b6ac7',
    'please',
  ),
  sent(
    '7-int2-resume-data',
    INTERRUPTING,
    '5b0bf27b-9a4a-4bcf-b0ba-b12cbbe9f1eb:01a1fc3d-50d1-73da-a505-ea3dd8612dce',
    'm-e71d0b',
    'please',
  ),
  sent(
    '7-int4-task-only',
    INTERRUPTING,
    '102c84bf-e693-4630-9588-7814c3587dfe:01a1fc3d-6070-7731-8e70-bfccedb1e48f',
    'm-e3cb5d',
    'please',
  ),
  sent(
    '7-int6-resume-plaindata',
    INTERRUPTING,
    '1d4c5aaf-bb4b-4557-86e1-37a65058612f:01a1fc3d-701f-73d7-9cae-a055ae59e94c',
    'm-ff591d',
    'please',
  ),
  {
    before: '7-card-named',
    request: post('/assistants', {
      graph_id: 'agent',
      name: 'My bot',
      description: 'does things',
      config: { configurable: { prefix: 'PFX' } },
    }),
    learn: { assistant_id: '2ae8ca52-6a9c-4729-a485-783d2b05409f' },
  },
]
