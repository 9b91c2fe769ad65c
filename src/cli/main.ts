#!/usr/bin/env node
// The process of the command line for people: confidential-trading <command>.
import { runCommandLine } from './commandLine.js'
import { Interruption } from './failure.js'

const interruption = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => interruption.abort(new Interruption('interrupted')))
}

const exit = await runCommandLine(process.argv.slice(2), {
  env: process.env,
  out: process.stdout,
  err: process.stderr,
  signal: interruption.signal,
})
// What a command that was interrupted still waits for ends with it.
process.exit(exit)
