import { run } from './actions/index.js'

await run('emulate-post')
