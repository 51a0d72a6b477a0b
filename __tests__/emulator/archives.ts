/** Archives made by hand, so that nothing that packs for a user can hide a fault of what unpacks. */
import { gzipSync } from 'node:zlib'

const BLOCK = 512

function header(path: string, size: number): Buffer {
  const block = Buffer.alloc(BLOCK)
  block.write(path, 0)
  block.write('0000644\0', 100)
  block.write('0000000\0', 108)
  block.write('0000000\0', 116)
  block.write(`${size.toString(8).padStart(11, '0')}\0`, 124)
  block.write('00000000000\0', 136)
  block.write('        ', 148)
  block.write('0', 156)
  block.write('ustar\x0000', 257)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return block
}

/** @param files path to content */
export function tarOf(files: Record<string, string>): Buffer {
  const parts = Object.entries(files).flatMap(([path, content]) => {
    const body = Buffer.from(content)
    const padding = Buffer.alloc((BLOCK - (body.length % BLOCK)) % BLOCK)
    return [header(path, body.length), body, padding]
  })
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)])
}

export function archiveOf(files: Record<string, string>): Buffer {
  return gzipSync(tarOf(files))
}

/** A project with one graph that its archive holds. */
export const PROJECT = {
  'langgraph.json': JSON.stringify({ dependencies: ['.'], graphs: { helper: './src/agent.py:graph' } }),
  'src/agent.py': 'graph = None\n',
}
