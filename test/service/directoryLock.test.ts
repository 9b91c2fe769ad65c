import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { DirectoryLockedError, lockDirectory } from '../../src/service/directoryLock.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'

const HOLDER = fileURLToPath(new URL('./lockHolder.ts', import.meta.url))

async function startHolder(directory: string): Promise<{ child: ChildProcess; says: string }> {
  const child = spawn(process.execPath, ['--import', 'tsx', HOLDER, directory], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [says] = await once(child.stdout, 'data')
  return { child, says: String(says).trim() }
}

async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

test('a directory is made, and has one holder at a time', async () => {
  const directory = join(await temporaryDirectory(), 'data')
  const lock = lockDirectory(directory)
  expect((await stat(directory)).mode & 0o777).toBe(0o700)
  expect(() => lockDirectory(directory)).toThrow(DirectoryLockedError)
  expect(() => lockDirectory(directory)).toThrow(`${directory} is in use by process ${process.pid}.`)
  lock.release()
  lockDirectory(directory).release()
})

test('a directory is held by another process until that is killed', async () => {
  const directory = await temporaryDirectory()
  const { child, says } = await startHolder(directory)
  expect(says).toBe('locked')
  expect(() => lockDirectory(directory)).toThrow(`process ${child.pid}`)
  expect((await startHolder(directory)).says).toBe('refused')
  await kill(child)
  lockDirectory(directory).release()
})

test('a process that is stopped keeps its directory, however long', async () => {
  const directory = await temporaryDirectory()
  const { child } = await startHolder(directory)
  child.kill('SIGSTOP')
  expect((await startHolder(directory)).says).toBe('refused')
  await kill(child)
  expect((await startHolder(directory)).says).toBe('locked')
})

test('a holder without a note of its number is named as another process', async () => {
  const directory = await temporaryDirectory()
  const lock = lockDirectory(directory)
  await rm(join(directory, 'server.pid'))
  expect(() => lockDirectory(directory)).toThrow('in use by another process')
  lock.release()
})
