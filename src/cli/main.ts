#!/usr/bin/env node
// The process of the command line for people: confidential-trading <command>.
import { requireNode } from '../service/version.js'
import { CommandError } from '../terminal/failure.js'
import { OutputClosed, runCommandLine } from './commandLine.js'

requireNode()
const interruption = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => interruption.abort(new CommandError('interrupted', 'interrupted')))
}

/** A reader that closed the stream, as `head` does, is no error. Any other stream failure is. */
function onClosed(stream: NodeJS.WriteStream, act: () => void): void {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    act()
  })
}
// A command prints results only between steps, so it may end when standard output closes. Progress appears in the
// middle of an order.
onClosed(process.stdout, () => interruption.abort(new OutputClosed()))
onClosed(process.stderr, () => {})

const exit = await runCommandLine(process.argv.slice(2), {
  env: process.env,
  out: process.stdout,
  err: process.stderr,
  signal: interruption.signal,
})
// A socket takes a long result in pieces, which the exit would cut off.
if (!interruption.signal.aborted) await new Promise<unknown>((done) => process.stdout.write('', done))
// Exits explicitly, so that pending operations of an interrupted command end too.
process.exit(exit)
