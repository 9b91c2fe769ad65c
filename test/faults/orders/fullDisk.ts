import { execFile } from 'node:child_process'
import { mkdir, open, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** A data directory that has no room left, for a while. */
export interface FullDisk {
  /** A real file system fills up, or every write of the server fails. */
  readonly kind: 'tmpfs' | 'injected'
  fill(): Promise<void>
  free(): Promise<void>
  /** Whether it has been full at any time from `at` on, of `performance.now()`. */
  wasFullSince(at: number): boolean
  /** Called once no process uses the directory. */
  remove(): Promise<void>
}

const run = promisify(execFile)
const SIZE = '256m'
const CHUNKS = [1_048_576, 4_096]

type Filling = Omit<FullDisk, 'wasFullSince'>

/** A small tmpfs on the data directory. Where none may be mounted, every operation that takes room fails instead. */
export async function createFullDisk(
  dataDir: string,
  switchFile: string,
  mayMount: boolean,
): Promise<FullDisk> {
  const filling = await createFilling(dataDir, switchFile, mayMount)
  let isFull = false
  let freedAt = Number.NEGATIVE_INFINITY
  return {
    ...filling,
    async fill() {
      isFull = true
      await filling.fill()
    },
    async free() {
      await filling.free()
      isFull = false
      freedAt = performance.now()
    },
    wasFullSince: (at) => isFull || freedAt >= at,
  }
}

async function createFilling(dataDir: string, switchFile: string, mayMount: boolean): Promise<Filling> {
  const isMounted = mayMount && (await mount(dataDir))
  if (!isMounted) {
    return {
      kind: 'injected',
      fill: () => writeFile(switchFile, ''),
      free: () => rm(switchFile, { force: true }),
      remove: async () => {},
    }
  }
  const ballast = join(dataDir, 'ballast')
  return {
    kind: 'tmpfs',
    fill: () => fillUp(ballast),
    free: () => rm(ballast, { force: true }),
    async remove() {
      await run('umount', [dataDir])
    },
  }
}

/** @returns false where it is not permitted, or impossible */
async function mount(dataDir: string): Promise<boolean> {
  await rm(dataDir, { recursive: true, force: true })
  await mkdir(dataDir, { mode: 0o700 })
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${SIZE},mode=0700`, 'tmpfs', dataDir])
    return true
  } catch {
    return false
  }
}

/** Fills a file system to the last page, in ever smaller pieces. */
export async function fillUp(path: string): Promise<void> {
  const file = await open(path, 'w')
  try {
    for (const size of CHUNKS) while (await takes(file, size));
  } finally {
    await file.close()
  }
}

async function takes(file: Awaited<ReturnType<typeof open>>, size: number): Promise<boolean> {
  try {
    await file.writeFile(Buffer.alloc(size))
    return true
  } catch {
    return false
  }
}
