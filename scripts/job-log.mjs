import { createInterface } from 'node:readline'

const COLORS = { error: '31', warning: '33', notice: '36' }
const LABELS = { error: 'Error', warning: 'Warning', notice: 'Notice' }

/**
 * Prints a step's output as the job log shows it: groups as foldable titles, annotations in colour, masks and
 * debug lines not at all; registered masks are replaced by `***`.
 * @param {NodeJS.ReadableStream} stream
 * @param {{ paint: (code: string, text: string) => string, write: (line: string) => void }} options
 */
export function printJobLog(stream, { paint, write }) {
  const masks = []
  let indent = ''
  createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }).on('line', (line) => {
    const command = /^::([a-z-]+)(?: [^:]*)?::(.*)$/.exec(line)
    const text = hide(command === null ? line : decodeCommand(command[2]), masks)
    switch (command?.[1]) {
      case undefined:
        write(`${indent}${text}`)
        break
      case 'group':
        write(paint('1', `▾ ${text}`))
        indent = '  '
        break
      case 'endgroup':
        indent = ''
        break
      case 'add-mask':
        masks.push(decodeCommand(command[2]))
        break
      case 'error':
      case 'warning':
      case 'notice':
        for (const [index, part] of text.split('\n').entries()) {
          write(paint(COLORS[command[1]], `${indent}${index === 0 ? `${LABELS[command[1]]}: ` : ''}${part}`))
        }
        break
      default:
    }
  })
}

function decodeCommand(data) {
  return data.replaceAll('%0D', '\r').replaceAll('%0A', '\n').replaceAll('%25', '%')
}

function hide(text, masks) {
  return masks.reduce((hidden, mask) => (mask === '' ? hidden : hidden.replaceAll(mask, '***')), text)
}
