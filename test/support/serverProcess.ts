import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { built } from './built.js'
import { eventually } from './eventually.js'
import { runtimeEnvironment } from './runtimeEnvironment.js'
import { SERVER_ENVIRONMENT } from './serverEnvironment.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export type ServerProcess = Awaited<ReturnType<typeof startServerProcess>>

/** Collects what a process prints, and kills it with the test. */
export function watched(child: ChildProcess) {
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (part: string) => {
      output += part
    })
  }
  const ended = once(child, 'close')
  const kill = async () => {
    child.kill('SIGKILL')
    await ended
  }
  onTestFinished(kill)
  return {
    /** Everything that it has printed. */
    output: () => output,
    /** Ends it without warning. */
    kill,
  }
}

/** The server as a process of its own, with these variables; killed with the test. */
export async function startServerProcess(environment: Record<string, string>) {
  const child: ChildProcess = spawn(process.execPath, [built('server/main.js')], {
    cwd: ROOT,
    env: { ...runtimeEnvironment(), ...SERVER_ENVIRONMENT, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const { output, kill } = watched(child)
  const port = await eventually(
    'the server to listen',
    () => /"port":(\d+).*"server started"/.exec(output())?.[1],
  )
  const opsPort = /"port":(\d+).*"operator port opened"/.exec(output())?.[1]
  const at = (found: string | undefined) => `http://127.0.0.1:${found}`
  return {
    url: at(port),
    /** The base URL of the operator's endpoints. */
    opsUrl: at(opsPort),
    output,
    kill,
    /** Lets it go on after a SIGSTOP. */
    resume: () => void child.kill('SIGCONT'),
  }
}
