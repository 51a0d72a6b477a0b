/**
 * Reads a GITHUB_OUTPUT file as the runner does: `name=value`, or `name<<DELIMITER`, lines, `DELIMITER`.
 * @param {string} text
 * @returns {Record<string, string>} the last value of each name
 */
export function readOutputs(text) {
  const outputs = {}
  const lines = text.split('\n')
  for (let at = 0; at < lines.length; at++) {
    const heredoc = /^([^=<]+)<<(.+)$/.exec(lines[at])
    if (heredoc !== null) {
      const end = lines.indexOf(heredoc[2], at + 1)
      outputs[heredoc[1]] = lines.slice(at + 1, end).join('\n')
      at = end
    } else if (lines[at].includes('=')) {
      const [name, ...value] = lines[at].split('=')
      outputs[name] = value.join('=')
    }
  }
  return outputs
}
