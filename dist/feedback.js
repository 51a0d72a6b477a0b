if (Number(process.versions.node.split('.')[0]) < 22) {
  console.log(`::error::Agent Deploy needs Node 24 (a runner of version 2.327.0 or newer), and this is Node ${process.versions.node}`)
  process.exitCode = 1
} else {
  const { run } = await import('./actions/index.js')
  await run('feedback')
}
