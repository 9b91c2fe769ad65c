#!/usr/bin/env node
// The process of the command line for people: confidential-trading <command>.
import { requireNode } from '../service/nodeVersion.js'
import { runCommandLine } from './commandLine.js'
import { Interruption, OutputClosed } from './failure.js'

requireNode()
const interruption = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => interruption.abort(new Interruption('interrupted')))
}

/** A reader that has gone, as `head` does, is no defect. What else fails of a stream is. */
function onClosed(stream: NodeJS.WriteStream, act: () => void): void {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    act()
  })
}
// Results are told when nothing is half done, so that the command may end there. Progress is told in the midst of an order.
onClosed(process.stdout, () => interruption.abort(new OutputClosed()))
onClosed(process.stderr, () => {})

const exit = await runCommandLine(process.argv.slice(2), {
  env: process.env,
  out: process.stdout,
  err: process.stderr,
  signal: interruption.signal,
})
// What a command that was interrupted still waits for ends with it.
process.exit(exit)
