import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { isRunning, ownIdentity } from '../../../src/server/processIdentity.js'
import { DirectoryLockedError, lockDirectory } from '../../../src/server/store/directoryLock.js'
import { eventually } from '../../support/eventually.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

const HOLDER = fileURLToPath(new URL('./lockHolder.ts', import.meta.url))

/** @param refreshMs how often it looks after its claim */
async function startHolder(
  directory: string,
  refreshMs = 5_000,
): Promise<{ child: ChildProcess; says: string }> {
  const child = spawn(process.execPath, ['--import', 'tsx', HOLDER, directory, String(refreshMs)], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  const [says] = await once(child.stdout, 'data')
  return { child, says: String(says).trim() }
}

async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

async function plant(directory: string, claim: object, refreshedMsAgo = 0): Promise<string> {
  const name = 'server.00000000-0000-4000-8000-000000000000.lock'
  await writeFile(join(directory, name), JSON.stringify(claim))
  const time = new Date(Date.now() - refreshedMsAgo)
  await utimes(join(directory, name), time, time)
  return name
}

describe('lockDirectory', () => {
  test('makes the directory, refuses a second holder until the first releases', async () => {
    const directory = join(await temporaryDirectory(), 'data')
    const lock = await lockDirectory(directory)
    await expect(lockDirectory(directory)).rejects.toThrow(DirectoryLockedError)
    await expect(lockDirectory(directory)).rejects.toThrow(`process ${process.pid}`)
    await lock.release()
    const next = await lockDirectory(directory)
    await next.release()
    expect(await readdir(directory)).toEqual([])
  })

  test('is held by another process until that is killed', async () => {
    const directory = await temporaryDirectory()
    const { child, says } = await startHolder(directory)
    expect(says).toBe('locked')
    await expect(lockDirectory(directory)).rejects.toThrow(`process ${child.pid}`)
    expect((await startHolder(directory)).says).toBe('refused')
    await kill(child)
    const lock = await lockDirectory(directory)
    expect(await readdir(directory)).toHaveLength(1)
    await lock.release()
  })

  test('of many processes that start over a dead one at once, one at most gets it', async () => {
    const directory = await temporaryDirectory()
    await kill((await startHolder(directory)).child)
    const said = await Promise.all(Array.from({ length: 4 }, () => startHolder(directory)))
    expect(said.filter(({ says }) => says === 'locked').length).toBeLessThanOrEqual(1)
    expect(await readdir(directory)).toHaveLength(said.filter(({ says }) => says === 'locked').length)
  })

  test('of many takers in one process, one at most gets it', async () => {
    const directory = await temporaryDirectory()
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => lockDirectory(directory)))
    const held = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
    expect(held.length).toBeLessThanOrEqual(1)
    expect(await readdir(directory)).toHaveLength(held.length)
    for (const lock of held) await lock.release()
  })

  test('takes over from a process whose pid another one has now', async () => {
    const directory = await temporaryDirectory()
    const name = await plant(directory, { host: 'here', ...ownIdentity(), startedAt: '1' })
    const lock = await lockDirectory(directory)
    expect(await readdir(directory)).not.toContain(name)
    await lock.release()
  })

  test('believes a claim of another machine as long as it is refreshed', async () => {
    const directory = await temporaryDirectory()
    const foreign = { host: 'elsewhere', space: 'another boot', pid: 1, startedAt: null }
    await plant(directory, foreign)
    await expect(lockDirectory(directory)).rejects.toThrow('process 1 on elsewhere')
    await plant(directory, foreign, 60_000)
    const lock = await lockDirectory(directory)
    await lock.release()
  })

  test('publishes a claim again that somebody removed', async () => {
    const directory = await temporaryDirectory()
    // More often than a disk renames: a refresh that did not wait for the one before would fail, and end the process.
    const lock = await lockDirectory(directory, 1)
    const [name = ''] = await readdir(directory)
    await rm(directory, { recursive: true })
    await eventually('the claim', async () =>
      (await readdir(directory).catch((): string[] => [])).includes(name),
    )
    await expect(lockDirectory(directory)).rejects.toThrow(DirectoryLockedError)
    await lock.release()
  })

  test('ends a process whose directory another one has taken', async () => {
    const directory = await temporaryDirectory()
    const { child, says } = await startHolder(directory, 20)
    expect(says).toBe('locked')
    const exited = once(child, 'exit')
    const claim = { host: 'elsewhere', space: 'another boot', pid: 1, startedAt: null }
    const own = (await readdir(directory)).map((name) => join(directory, name))
    await plant(directory, claim)
    await Promise.all(own.map((path) => rm(path)))
    expect(await exited).toEqual([1, null])
    expect(await readdir(directory)).toHaveLength(1)
  })

  test('clears away a claim that cannot be read', async () => {
    const directory = await temporaryDirectory()
    await writeFile(join(directory, 'server.00000000-0000-4000-8000-000000000000.lock'), '{"pid":')
    const lock = await lockDirectory(directory)
    expect(await readdir(directory)).toHaveLength(1)
    await lock.release()
  })

  test('writes nothing secret into its claim', async () => {
    const directory = await temporaryDirectory()
    const lock = await lockDirectory(directory)
    const [name = ''] = await readdir(directory)
    const claim: unknown = JSON.parse(await readFile(join(directory, name), 'utf8'))
    expect(Object.keys(Object(claim)).sort()).toEqual(['host', 'pid', 'space', 'startedAt'])
    await lock.release()
  })
})

describe('isRunning', () => {
  test('tells this process from a dead one and from an earlier one of its pid', async () => {
    const own = ownIdentity()
    expect(isRunning(own)).toBe(true)
    const child = spawn(process.execPath, ['-e', ''])
    await once(child, 'exit')
    expect(isRunning({ ...own, pid: child.pid ?? 0 })).toBe(false)
    if (own.startedAt !== null) expect(isRunning({ ...own, startedAt: `${own.startedAt}0` })).toBe(false)
  })
})
