/**
 * Ids differ from one server to the next. What the recorded server called X is found in its answers; what the
 * emulator calls the same thing stands at the same place of its own answer. `learn` pairs the two up, `toActual`
 * writes a recorded request in the emulator's ids.
 */

/** UUIDs, 32-digit interrupt ids, and event ids of the form `<ms>-<n>`. */
export const ID =
  /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{32}\b|\b\d{13}-\d+\b/gi

export class IdMap {
  /** @type {Map<string, string>} */
  #actual = new Map()

  /** @param {string} recorded @param {string} actual */
  set(recorded, actual) {
    const key = recorded.toLowerCase()
    // A UUID of version 5 is made of a graph's name, and the same everywhere.
    if (key[14] !== '5' && !this.#actual.has(key)) this.#actual.set(key, actual)
  }

  /** @param {string} recorded */
  has(recorded) {
    return this.#actual.has(recorded.toLowerCase())
  }

  /**
   * An id that nobody has learned was chosen by the client, and stays as it is.
   * @param {string} text path, header or body of a recorded request
   */
  toActual(text) {
    return text.replace(ID, (id) => {
      const known = this.#actual.get(id.toLowerCase())
      if (known !== undefined) return spelledLike(id, known)
      const dashed = this.#actual.get(withDashes(id))
      return dashed === undefined ? id : dashed.replaceAll('-', '')
    })
  }

  /**
   * Pairs the ids of two answers by their place: by path in JSON, by event and path in a stream, else in order.
   * @param {unknown} recorded @param {unknown} actual parsed bodies, or strings
   */
  learn(recorded, actual) {
    if (typeof recorded === 'string' && typeof actual === 'string') {
      const theirs = recorded.match(ID) ?? []
      const ours = actual.match(ID) ?? []
      if (theirs.length !== ours.length) return
      theirs.forEach((id, index) => {
        this.set(id, ours[index])
      })
    } else if (Array.isArray(recorded) && Array.isArray(actual)) {
      recorded.forEach((item, index) => {
        this.learn(item, actual[index])
      })
    } else if (isObject(recorded) && isObject(actual)) {
      const ours = Object.keys(actual)
      Object.keys(recorded).forEach((key, index) => {
        // Maps keyed by id (interrupts by checkpoint, messages by id): by position.
        const same = Object.hasOwn(actual, key) ? key : key.match(ID) ? ours[index] : undefined
        if (same === undefined) return
        if (same !== key) this.learn(key, same)
        this.learn(recorded[key], actual[same])
      })
    }
  }
}

/** @param {unknown} value */
export function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function spelledLike(recorded, actual) {
  return recorded !== recorded.toLowerCase() && recorded === recorded.toUpperCase()
    ? actual.toUpperCase()
    : actual
}

function withDashes(id) {
  return id.toLowerCase().replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
