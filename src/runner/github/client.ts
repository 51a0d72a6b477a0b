import { AgentDeployError } from '../../base/errors.ts'
import { RequestError } from '../../http/errors.ts'
import { type Fetch, makeFetch } from '../../http/fetch.ts'
import { readProxySettings } from '../../http/proxy.ts'
import type { GithubContext } from '../context.ts'
import type { Runner } from '../runner.ts'

type Octokit = ReturnType<typeof import('@actions/github')['getOctokit']>

/** GitHub's API as the job's token sees it. */
export interface GithubClient {
  readonly rest: Octokit['rest']
  readonly paginate: Octokit['paginate']
  readonly context: GithubContext
  /** What every call takes: `{ owner, repo }` of the workflow's repository. */
  readonly repository: { readonly owner: string; readonly repo: string }
}

/** A nicety must not hold up a deploy: GitHub answers in well under a second. */
const TIMEOUT_MS = 10_000
/** What a call still gets after a cancel: less than `main` and `failed` have each (run-action.ts). */
const GRACE_MS = 1_500
/** 100 comments of 65 536 characters each fit. */
const MAX_BYTES = 32 * 1024 * 1024
const RETRY_WAIT_MS = 500

/**
 * Octokit of `@actions/github` at `GITHUB_API_URL`, over our own fetch. The library is loaded here, when
 * GitHub is talked to, because it costs as much as a start of Node.
 * @param token `github-token`; registered as a mask
 * @throws AgentDeployError when the token is empty
 */
export async function connect(runner: Runner, token: string): Promise<GithubClient> {
  if (token === '') {
    throw new AgentDeployError('the input github-token is empty', {
      hint: 'Leave the input out (its default is the job’s own token), or give it a token.',
    })
  }
  runner.secrets.mask(token, 'github-token')
  const context = await runner.context()
  const { getOctokit } = await import('@actions/github')
  const octokit = getOctokit(token, {
    baseUrl: context.apiUrl.replace(/\/+$/, ''),
    request: { fetch: sameOrigin(context.apiUrl, twice(runner, ourFetch(runner))) },
    // Octokit prints deprecations to the console, where text of a server must not go.
    log: { debug: silent, info: silent, warn: silent, error: silent },
  })
  return {
    rest: octokit.rest,
    paginate: octokit.paginate,
    context,
    repository: { owner: context.owner, repo: context.repo },
  }
}

function silent(): void {}

function ourFetch(runner: Runner): Fetch {
  return makeFetch({
    proxy: readProxySettings(runner.env),
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_BYTES,
    signal: runner.signal,
    graceMs: GRACE_MS,
  })
}

/** The next page is a URL out of an answer: the token goes to the API's own origin only. */
function sameOrigin(apiUrl: string, inner: Fetch): Fetch {
  const { origin } = new URL(apiUrl)
  return (url, init) => {
    if (new URL(url).origin === origin) return inner(url, init)
    throw new AgentDeployError('an answer of GitHub points to another host, which is not followed')
  }
}

/** One more try for what may be repeated: reading, and setting a comment's text. */
function twice(runner: Runner, inner: Fetch): Fetch {
  return async (url, init) => {
    const again = init?.method === 'GET' || init?.method === 'PATCH'
    try {
      const answer = await inner(url, init)
      if (answer.status < 500 || !again || runner.signal.aborted) return answer
    } catch (error) {
      if (!(error instanceof RequestError) || !again || runner.signal.aborted) throw error
    }
    await runner.clock.sleep(RETRY_WAIT_MS)
    return inner(url, init)
  }
}
