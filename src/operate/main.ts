// The process of `npm run operate`: commands for operators.
import { requireNode } from '../service/version.js'
import { runOperate } from './program.js'

requireNode()
process.exitCode = await runOperate(process.argv.slice(2), {
  env: process.env,
  input: process.stdin,
  out: process.stdout,
  err: process.stderr,
})
// A terminal that was asked keeps the process alive otherwise.
process.stdin.unref?.()
