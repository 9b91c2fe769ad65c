// Has the bench's module preloaded into the enclave that the server starts, which inherits nothing of the server's environment.
import childProcess from 'node:child_process'
import { syncBuiltinESMExports } from 'node:module'

const PRELOAD = new URL('ownEnclave.mjs', import.meta.url).href
const HANDED_ON = ['FAULTS_BENCH', 'FAULTS_FORGET']

const { spawn } = childProcess
childProcess.spawn = (program, args, options) => {
  if (args.at(-1) !== 'serve') return spawn(program, args, options)
  const env = { ...options.env, FAULTS_BENCH_PID: `${process.ppid}` }
  for (const name of HANDED_ON) if (process.env[name] !== undefined) env[name] = process.env[name]
  return spawn(program, ['--import', PRELOAD, ...args], { ...options, env })
}
syncBuiltinESMExports()
