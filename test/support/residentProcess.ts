import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import type { ResidentSettings } from '../../src/enclave/resident/settings.js'
import { built } from './built.js'
import { RUN_SECRET, SERVER_ENVIRONMENT } from './serverEnvironment.js'

const PROGRAM = fileURLToPath(new URL('enclaves/scriptedResident.mjs', import.meta.url))

/** The script of one run of a resident enclave: see the program. */
export interface ResidentStep {
  readonly outcome?: string
  readonly early?: object
  readonly untilFile?: string
  readonly act?: 'hang' | 'throw' | 'reject' | 'crash'
}

/** A resident enclave as a process of its own, whose runs do as the plan says. Ends with its test at the latest. */
export async function startResidentProcess(options: {
  readonly directory: string
  readonly serverUrl: string
  readonly stateDirectory?: string
  readonly plan: Readonly<Record<string, readonly ResidentStep[]>>
  /** A module's URL, loaded before the program, and variables for it. */
  readonly preload?: string
  readonly variables?: Readonly<Record<string, string>>
}) {
  const { directory, serverUrl, plan, stateDirectory = `${directory}/state`, preload, variables } = options
  built('enclave/resident/resident.js')
  const envFile = `${directory}/enclave.env`
  await writeFile(`${envFile}.plan.json`, JSON.stringify(plan))
  const settings: ResidentSettings = {
    listen: { host: '127.0.0.1', port: 0 },
    secret: RUN_SECRET,
    serverUrl,
    relayToken: SERVER_ENVIRONMENT.RELAY_AUTH_TOKEN,
    stateDirectory,
    maxRuns: 256,
    logLevel: 'info',
  }
  const child = spawn(process.execPath, [...(preload === undefined ? [] : ['--import', preload]), PROGRAM], {
    env: {
      ...variables,
      PATH: process.env.PATH ?? '',
      ENCLAVE_ENV_FILE: envFile,
      SETTINGS: JSON.stringify(settings),
      ENDS_BY_ITSELF: 'yes',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  const exited = once(child, 'exit').then(([code]: (number | null)[]) => code ?? null)
  const { port, lines } = await portOf(child)
  return {
    pid: child.pid ?? 0,
    /** Undefined where it did not start. */
    url: port === undefined ? undefined : `http://127.0.0.1:${port}`,
    lines,
    /** Its exit code, once it has ended; null after a signal. */
    exited,
    async kill(signal: NodeJS.Signals = 'SIGKILL') {
      child.kill(signal)
      await exited
    },
    signal: (signal: NodeJS.Signals) => child.kill(signal),
  }
}

async function portOf({ stderr }: ChildProcess): Promise<{ port: number | undefined; lines: string[] }> {
  const lines: string[] = []
  if (stderr === null) throw new Error('the process has no standard error')
  const port = await new Promise<number | undefined>((resolve) => {
    const reader = createInterface({ input: stderr })
    reader.on('line', (line) => {
      lines.push(line)
      const found = /"port":(\d+)/.exec(line)?.[1]
      if (found !== undefined) resolve(Number(found))
    })
    reader.on('close', () => resolve(undefined))
  })
  return { port, lines }
}
