import { run } from './actions/index.js'

await run('post')
