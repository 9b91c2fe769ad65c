// The process of `npm run operate`: commands for operators.
import { requireNode } from '../service/version.js'
import { runOperate } from './program.js'

/** A reader that closed the output, as `head` does, ends a command as Ctrl-C does. */
function untilEnded(): AbortSignal {
  const ended = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ended.abort())
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    ended.abort()
  })
  return ended.signal
}

requireNode()
process.exitCode = await runOperate(process.argv.slice(2), {
  env: process.env,
  input: process.stdin,
  out: process.stdout,
  err: process.stderr,
  untilEnded,
})
// A terminal that was asked keeps the process alive otherwise.
process.stdin.unref?.()
