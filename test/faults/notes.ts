// The storm and the processes in it leave each other notes, as files in one directory.
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

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
    /** Lists runs that the enclave was offered beside another one of their account. */
    overlaps: () => linesOf('overlaps'),
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
    isFull: () => existsSync(join(bench, 'full')),
  }
}
