import type { Answer } from '../clients/a2a/types.ts'
import type { A2aExpectation } from './checks.ts'
import { type Outcome, PASSED } from './types.ts'

/** What a state that is no good means, and what to do. */
const BAD_ENDS: Record<string, { means: string; hint: string }> = {
  failed: {
    means: 'the task failed',
    hint: 'Look at what the agent said, and at its trace: the graph raised an error.',
  },
  canceled: { means: 'the task was canceled', hint: 'Somebody canceled the run: run the check again.' },
  rejected: {
    means: 'the agent rejected the task',
    hint: 'Look at what the agent said: it does not take such a message.',
  },
}

/**
 * The answer to a message that another one follows.
 * @returns undefined when the conversation can go on: `input-required` is what the next message answers
 */
export function judgeEarlier(answer: Answer, what: string): Outcome | undefined {
  const bad = BAD_ENDS[answer.state]
  if (bad !== undefined) return { reason: `${what}: ${bad.means}`, hint: bad.hint, said: answer.text }
  return answer.state === 'auth-required' ? asksForAuth(answer, what) : undefined
}

/**
 * The answer to the last message.
 * @param note what is known of the server and may explain a wrong text; "" or a sentence that begins with a space
 */
export function judgeLast(answer: Answer, expect: A2aExpectation, what: string, note: string): Outcome {
  const earlier = judgeEarlier(answer, what)
  if (earlier !== undefined) return earlier
  const asks = answer.state === 'input-required'
  if (asks && !expect.interrupt) {
    return {
      reason: `${what}: the agent stopped to ask (input-required)`,
      hint: 'Add the answer as a further message, or expect the question with `expect: { interrupt: true }`.',
      said: answer.text,
    }
  }
  if (!asks && expect.interrupt) {
    return {
      reason: `${what}: the agent did not stop to ask, and \`interrupt: true\` was expected`,
      hint: 'Look at the graph’s interrupt, or take `interrupt` out of the check.',
      said: answer.text,
    }
  }
  const wanted = expect.text
  if (wanted === undefined ? asks || answer.text.trim() !== '' : wanted.matches(answer.text)) {
    return answer.text === '' ? PASSED : { ...PASSED, said: answer.text }
  }
  if (wanted === undefined || answer.text.trim() === '') {
    const instead = wanted === undefined ? '' : `, expected was ${quote(wanted.source)}`
    const fine = wanted === undefined ? ' Where an empty answer is right, say `expect: { text: "" }`.' : ''
    return {
      reason: `${what} was answered with an empty text${instead}`,
      hint: `The agent said nothing: look at its trace, and at whether it writes to \`messages\`.${fine}${note}`,
    }
  }
  return {
    reason: `${what} was answered without the expected text ${quote(wanted.source)}`,
    hint: `Look at what the agent said; correct the agent, or the check’s \`expect.text\`.${note}`,
    said: answer.text,
  }
}

function asksForAuth(answer: Answer, what: string): Outcome {
  return {
    reason: `${what}: the agent asks for authentication (auth-required)`,
    hint: 'A check cannot sign in for the agent: authenticate the user it acts for, or choose another message.',
    said: answer.text,
  }
}

/** The user's own words, as much of them as a sentence bears. */
function quote(source: string): string {
  return JSON.stringify(source.length > 120 ? `${source.slice(0, 120)}…` : source)
}
