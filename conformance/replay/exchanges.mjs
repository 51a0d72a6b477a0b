/** Reads what was recorded: one exchange per line of `../recorded/*.jsonl` (its README describes the format). */
import { readFileSync } from 'node:fs'

const folder = new URL('../recorded/', import.meta.url)

/**
 * @typedef {{method: string, path: string, headers: Record<string, string>, body: string}} RecordedRequest
 * @typedef {{status: number, headers: Record<string, string>, body: string}} RecordedResponse
 * @typedef {{name: string, request: RecordedRequest, response: RecordedResponse, end?: string}} Exchange
 */

/**
 * @param {string} file name inside `recorded/`
 * @returns {Exchange[]} in the order in which they were made; a line that is there twice, to the letter, once
 */
export function readExchanges(file) {
  const lines = readFileSync(new URL(file, folder), 'utf8').split('\n')
  return [...new Set(lines)].filter((line) => line !== '').map((line) => JSON.parse(line))
}

/** @returns {Set<string>} names of the exchanges of `python-0.16.7.jsonl` that must be answered alike */
export function readReproducible() {
  return new Set(
    readFileSync(new URL('reproducible.txt', folder), 'utf8')
      .split('\n')
      .filter((line) => line !== ''),
  )
}
