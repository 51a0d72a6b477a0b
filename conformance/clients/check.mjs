/** Named checks that print one line each, and a count of those that failed. */
import assert from 'node:assert/strict'

export { assert }

const DEADLINE_MS = 60_000

export class Checks {
  passed = 0
  failed = 0
  #title

  /** @param {string} title what is printed before each name */
  constructor(title) {
    this.#title = title
  }

  /**
   * @param {string} name
   * @param {() => Promise<unknown>} body throws when the check fails
   */
  async run(name, body) {
    let timer
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no end within ${DEADLINE_MS} ms`)), DEADLINE_MS)
    })
    try {
      await Promise.race([body(), late])
      this.passed++
      console.log(`passed  ${this.#title}: ${name}`)
    } catch (error) {
      this.failed++
      console.log(
        `FAILED  ${this.#title}: ${name}\n${indent(error instanceof Error ? error.message : String(error))}`,
      )
    } finally {
      clearTimeout(timer)
    }
  }
}

function indent(text) {
  return text.replace(/^/gm, '        ')
}
