import type { Answer } from '../clients/agent-server/messages.ts'
import type { Expectation } from './checks.ts'
import { plainNames } from './explain.ts'
import type { StreamedRun } from './run-stream.ts'
import type { Outcome } from './types.ts'

/**
 * Compares a successful run with what was expected of it.
 * @param interrupted the run stopped to ask
 * @returns passed or the first thing that is wrong; `said` is the answer, or what was asked
 */
export function judge(expect: Expectation, run: StreamedRun, interrupted: boolean): Outcome {
  const { text, nodes } = run.answer
  const asked = interrupted && run.interrupts !== undefined ? JSON.stringify(run.interrupts) : ''
  const said = { said: text.includes(asked) ? text : [text, asked].filter((part) => part !== '').join('\n') }
  if (run.verdict.stateEvents === 0) {
    return {
      reason: 'The run is a success, and its stream told nothing of what the graph did',
      hint: 'No event with updates or messages came: look at `stream-mode` and `run` in the check, and for a proxy that drops events.',
      ...said,
    }
  }
  if (interrupted !== expect.interrupt) {
    return interrupted
      ? {
          reason: 'The run stopped to ask: its thread is interrupted',
          hint: 'Where the agent is meant to ask here, say so with `expect: { interrupt: true }`; else look at what it asks.',
          ...said,
        }
      : {
          reason: 'The run went to its end, where it was expected to stop and ask',
          hint: 'Look at the agent’s condition for asking, or leave `interrupt: true` out of the check.',
          ...said,
        }
  }
  if (expect.node !== undefined && !nodes.includes(expect.node)) {
    return {
      reason: `No update of the node "${expect.node}" came; the nodes that wrote: ${plainNames(nodes)}`,
      hint: 'Look at `expect.node` in the check and at the names of the graph’s nodes; with `stream_subgraphs` nodes of subgraphs count too.',
      ...said,
    }
  }
  return judgeText(expect, run.answer, interrupted) ?? { reason: '', ...said }
}

/** `text: ''` matches whatever was said; without `text`, a run that was to answer must have said something. */
function judgeText(expect: Expectation, answer: Answer, interrupted: boolean): Outcome | undefined {
  const { text } = answer
  const wanted = expect.text
  if (wanted === undefined ? interrupted || expect.node !== undefined : wanted.matches(text)) return undefined
  if (answer.empty) {
    return {
      reason: 'The answer is empty: the run is a success and no AI message has text',
      hint: 'Look at the trace of the run: the model may have refused, or called a tool and stopped. Where an empty answer is right, say `expect: { text: "" }`.',
      said: text,
    }
  }
  if (wanted === undefined) return undefined
  return {
    reason: `The answer does not ${wanted.source.startsWith('/') ? 'match' : 'contain'} ${shown(wanted.source)}`,
    hint: 'Look at what the agent said: either it is wrong, or `expect.text` is too narrow (upper and lower case count).',
    said: text,
  }
}

/** What the user expects, in a sentence: one line, not endless. */
function shown(source: string): string {
  const line = source.replace(/\s+/g, ' ')
  const cut = line.length > 120 ? `${line.slice(0, 120)}…` : line
  return source.startsWith('/') ? cut : `"${cut}"`
}
