import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Job, RunResult } from '../../src/protocol/job.js'

const program = fileURLToPath(new URL('enclaves/scripted.mjs', import.meta.url))

/** What one run of the scripted enclave does: leaves this result, or acts up. */
export type Step = Partial<RunResult> & {
  /** Before it goes on. */
  waitMs?: number
  /** Goes on once this file exists. */
  untilFile?: string
  /** Left at once, before the wait, as the real enclave leaves a notice. */
  early?: RunResult
  act?: 'hang' | 'babble' | 'garbage' | 'fork'
  /** Its exit code. */
  exit?: number
}

/** A note that a run of it left. */
export interface Note {
  event: 'started' | 'ended' | 'SIGTERM'
  at: number
  pid: number
  runId: string
  key: string
  job: Job
  argv: string[]
  env: Record<string, string>
}

/** A program in the enclave's place: a real process, whose runs do what the plan says and note what they were given. */
export interface ScriptedEnclave {
  readonly command: string[]
  readonly envFile: string
  /** The steps by orderId, or `policy`, `reconcile`, `any`; each run takes the next one and the last one repeats. */
  plan(steps: Record<string, Step[]>): Promise<void>
  notes(): Promise<Note[]>
  /** The jobs of the runs, in the order in which they started. */
  jobs(): Promise<Job[]>
}

export function createScriptedEnclave(directory: string): ScriptedEnclave {
  const envFile = join(directory, 'enclave.env')
  async function notes(): Promise<Note[]> {
    if (!existsSync(`${envFile}.log`)) return []
    const text = await readFile(`${envFile}.log`, 'utf8')
    return text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
  }
  return {
    command: [process.execPath, program],
    envFile,
    notes,
    plan: (steps) => writeFile(`${envFile}.plan.json`, JSON.stringify(steps)),
    async jobs() {
      return (await notes()).filter(({ event }) => event === 'started').map(({ job }) => job)
    },
  }
}
