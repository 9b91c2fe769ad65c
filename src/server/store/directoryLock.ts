import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, stat, unlink, utimes, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { isRunning, ownIdentity, type ProcessIdentity } from '../processIdentity.js'
import { isAbsent } from './fileSystem.js'

/** Another process uses the directory. */
export class DirectoryLockedError extends Error {
  override readonly name = 'DirectoryLockedError'

  constructor(directory: string, holder: Claim) {
    super(
      `${directory} is in use by process ${holder.pid} on ${holder.host}. ` +
        'Stop that one first, or choose another directory.',
    )
  }
}

export interface DirectoryLock {
  release(): Promise<void>
}

const claimSchema = z.object({
  host: z.string(),
  space: z.string(),
  pid: z.int().positive(),
  startedAt: z.string().nullable(),
})
type Claim = z.output<typeof claimSchema>

const CLAIM_NAME = /^server\.[0-9a-f-]{36}\.lock$/
const ATTEMPTS = 5
const REFRESH_INTERVAL_MS = 5_000
/** A claim of another machine or container is taken for dead when it has not been refreshed for this long. */
const FOREIGN_STALE_MS = 30_000

/**
 * Takes a directory for this process until `release` or its death, however sudden.
 *
 * Each contender first publishes a claim under a name of its own, then looks for others' and withdraws when one of
 * them is alive. So two can't both hold it, and as no name is ever shared, clearing away a dead process's claim can
 * never hit a live one's, which a single lock file that is taken over can't promise.
 *
 * A claim that somebody removed is published again. Should another process have taken the directory meanwhile, this one
 * can't go on: a DirectoryLockedError that nobody can catch ends it.
 *
 * @param refreshMs how often the claim is looked after
 * @throws DirectoryLockedError when another process has it
 */
export async function lockDirectory(
  directory: string,
  refreshMs: number = REFRESH_INTERVAL_MS,
): Promise<DirectoryLock> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const own = { host: hostname(), ...ownIdentity() }
  const path = join(directory, `server.${randomUUID()}.lock`)
  for (let attempt = 1; ; attempt++) {
    await publish(path, own)
    const holder = await findOther(directory, path, own)
    if (holder === undefined) return hold(directory, path, own, refreshMs)
    await unlink(path)
    if (attempt === ATTEMPTS) throw new DirectoryLockedError(directory, holder)
    // Two that start at once may both withdraw; they come back at different moments.
    await sleep(50 + Math.random() * 150)
  }
}

/** Appears whole or not at all. */
async function publish(path: string, claim: Claim): Promise<void> {
  await writeFile(`${path}.new`, JSON.stringify(claim), { mode: 0o600 })
  await rename(`${path}.new`, path)
}

async function findOther(
  directory: string,
  ownPath: string,
  own: ProcessIdentity,
): Promise<Claim | undefined> {
  for (const name of await readdir(directory)) {
    const path = join(directory, name)
    if (!CLAIM_NAME.test(name) || path === ownPath) continue
    const claim = await readClaim(path)
    if (claim !== undefined && (await isAlive(claim, path, own))) return claim
    await unlink(path).catch(() => undefined)
  }
  return undefined
}

async function readClaim(path: string): Promise<Claim | undefined> {
  try {
    return claimSchema.parse(JSON.parse(await readFile(path, 'utf8')))
  } catch {
    return undefined
  }
}

async function isAlive(claim: Claim, path: string, own: ProcessIdentity): Promise<boolean> {
  if (claim.space === own.space) return isRunning(claim)
  const refreshed = await stat(path).catch(() => undefined)
  return refreshed !== undefined && Date.now() - refreshed.mtimeMs < FOREIGN_STALE_MS
}

function hold(directory: string, path: string, own: Claim, refreshMs: number): DirectoryLock {
  let refreshing: Promise<void> | undefined
  const timer = setInterval(() => {
    // One at a time: on a slow disk a second one would take away what the first is about to rename.
    refreshing ??= refresh(directory, path, own).finally(() => {
      refreshing = undefined
    })
  }, refreshMs)
  timer.unref()
  return {
    async release() {
      clearInterval(timer)
      await refreshing
      await unlink(path).catch(() => undefined)
    },
  }
}

async function refresh(directory: string, path: string, own: Claim): Promise<void> {
  const now = new Date()
  try {
    await utimes(path, now, now)
    return
  } catch (error) {
    // A disk that fails for a while takes nothing away.
    if (!isAbsent(error)) return
  }
  await mkdir(directory, { recursive: true, mode: 0o700 })
  await publish(path, own)
  const holder = await findOther(directory, path, own)
  if (holder === undefined) return
  await unlink(path)
  throw new DirectoryLockedError(directory, holder)
}
