// The storm and the processes in it leave each other notes, as files in one directory.
import { statSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'

/** The programs that are killed, stopped and failed at steps. */
const PROGRAMS = ['server', 'enclave'] as const
type Program = (typeof PROGRAMS)[number]

/** What a program does at a step, once. */
interface Act {
  readonly verb: 'killed' | 'stopped' | 'failed'
  readonly step: string
  readonly forMs: number
  /** For the step `later`. */
  readonly afterMs: number
}

const runSchema = z.object({ runId: z.string(), job: z.string(), orderId: z.string().optional() })
const deathSchema = z.object({ runs: z.array(runSchema) })
const jobSchema = z.object({ at: z.number(), runId: z.string(), orderId: z.string(), hasCancel: z.boolean() })
export type AcceptedJob = z.output<typeof jobSchema>

export type Notes = Awaited<ReturnType<typeof createNotes>>

/** The notes of the processes, and those for them. @param bench the directory */
export async function createNotes(bench: string) {
  for (const name of ['accounts', ...PROGRAMS.flatMap((one) => [`${one}/planned`, `${one}/done`])]) {
    await mkdir(join(bench, name), { recursive: true })
  }
  let acts = 0

  async function linesOf(name: string): Promise<string[]> {
    const text = await readFile(join(bench, name), 'utf8').catch(() => '')
    return text.split('\n').filter((line) => line !== '')
  }

  return {
    /** Counts runs that have begun, or were reported as over by a later boot of the enclave. */
    runs: (event: 'started' | 'restarted') =>
      statSync(join(bench, event), { throwIfNoEntry: false })?.size ?? 0,
    /** Lists runs that the enclave was offered beside another one of their account. */
    overlaps: () => linesOf('overlaps'),
    /** Lists the kills of the enclave, with the runs that were under way. */
    deaths: async () => (await linesOf('deaths')).map((line) => deathSchema.parse(JSON.parse(line))),
    /** Lists the runs of orders that the enclave has accepted, with the time by `performance.now()`. */
    async jobs(): Promise<AcceptedJob[]> {
      const jobs = (await linesOf('jobs')).map((line) => jobSchema.parse(JSON.parse(line)))
      return jobs.map(({ at, ...job }) => ({ ...job, at: at - performance.timeOrigin }))
    },
    /** Names the account of an order, for the enclave's notes. */
    nameAccount: (orderId: string, account: string) => writeFile(join(bench, 'accounts', orderId), account),
    async plan(program: Program, { verb, step, ...act }: Act): Promise<void> {
      const name = `${String(acts++).padStart(4, '0')}-${verb}-at-${step}`
      // A rename lets it appear whole or not at all.
      await writeFile(join(bench, name), JSON.stringify(act))
      await rename(join(bench, name), join(bench, program, 'planned', name))
    },
    /** Names the acts that wait for their steps, and those that were carried out. */
    async acts(state: 'planned' | 'done'): Promise<string[]> {
      const names = PROGRAMS.map(async (program) =>
        (await readdir(join(bench, program, state))).map((name) => `${program} ${name.replace(/^\d+-/, '')}`),
      )
      return (await Promise.all(names)).flat()
    },
    /** Takes back all acts that are left. */
    async takeBack(): Promise<void> {
      for (const program of PROGRAMS) {
        const planned = join(bench, program, 'planned')
        for (const name of await readdir(planned)) await rm(join(planned, name), { force: true })
      }
    },
    /** Sets the clock of servers and enclave. */
    setClock: (aheadMs: number) => writeFile(join(bench, 'clock'), `${aheadMs}`),
    /** Whether the disk of a server with SQLite has no room. */
    setFull: (isFull: boolean) =>
      isFull ? writeFile(join(bench, 'full'), '') : rm(join(bench, 'full'), { force: true }),
    isFull: () => statSync(join(bench, 'full'), { throwIfNoEntry: false }) !== undefined,
  }
}

const endSchema = z.object({ msg: z.literal('enclave run ended'), runId: z.uuid() })

/** Follows the runs of orders that were under way when the enclave was killed: a later boot reports each as over. */
export function createRunWatch() {
  const ended = new Set<string>()
  return {
    /** Takes the servers' log, line by line. */
    heard(line: string): void {
      if (line.includes('enclave run ended')) ended.add(endSchema.parse(JSON.parse(line)).runId)
    },
    async unended({ deaths }: Pick<Notes, 'deaths'>): Promise<string[]> {
      return (await deaths())
        .flatMap(({ runs }) => runs)
        .filter(({ runId, orderId }) => orderId !== undefined && !ended.has(runId))
        .map(({ orderId }) => `the run of ${orderId} in a killed enclave is not over`)
    },
  }
}
