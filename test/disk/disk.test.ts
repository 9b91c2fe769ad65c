// The stores of real processes on media that really fail: calls of the system that libfiu lets fail, and a small tmpfs.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { built } from '../support/built.js'
import { eventually } from '../support/eventually.js'
import { bytes32 } from '../support/institution.js'
import { sealOrder } from '../support/intakeServer.js'
import { SERVER_ENVIRONMENT } from '../support/serverEnvironment.js'
import { watched } from '../support/serverProcess.js'
import { storedRows } from '../support/storedRows.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'

const run = promisify(execFile)
const WRITER = fileURLToPath(new URL('../server/store/sqliteWriterProcess.ts', import.meta.url))
const REFUSED = 'refused SQLITE_FULL'

interface Program {
  readonly child: ChildProcess
  readonly output: () => string
  /** `enable name=…` or `disable name=…` of a point of failure. */
  control(command: string): Promise<void>
  kill(): Promise<void>
}

/** A program of Node whose calls of the system can be made to fail while it runs. */
function startProgram(args: readonly string[], environment: Record<string, string> = {}): Program {
  const child = spawn('fiu-run', ['-x', process.execPath, ...args], {
    env: { PATH: process.env.PATH ?? '', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return {
    child,
    ...watched(child),
    async control(command) {
      await run('fiu-ctrl', ['-c', command, `${child.pid}`])
    },
  }
}

function startWriter(directory: string): Program & { lines(): string[]; acknowledged(): string[] } {
  const program = startProgram([
    '--import',
    'tsx',
    WRITER,
    built('server/store/sqlite/sqliteEngine.js'),
    directory,
  ])
  const lines = () => program.output().split('\n').slice(0, -1)
  return { ...program, lines, acknowledged: () => lines().filter((line) => /^[0-9a-f-]{36}$/.test(line)) }
}

function expectAllThere(directory: string, acknowledged: readonly string[]): void {
  const stored = new Set(storedRows(directory, 'orders').map(({ id }) => id))
  expect(acknowledged.filter((id) => !stored.has(id))).toEqual([])
}

test('a medium without room refuses writes, and takes them again once there is room', async () => {
  const directory = join(await temporaryDirectory(), 'disk')
  await mkdir(directory)
  await run('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', directory])
  onTestFinished(async () => {
    await run('umount', ['-l', directory])
  })
  const ballast = join(directory, 'ballast')
  await writeFile(ballast, Buffer.alloc(16 * 2 ** 20))
  // Writes until the medium refuses, then on until it takes as much again.
  const writer = startWriter(join(directory, 'data'))
  await eventually('a refusal', () => writer.lines().includes(REFUSED))
  const before = writer.acknowledged().length
  await rm(ballast)
  await eventually('further writes', () => writer.acknowledged().length > before + 100)
  await writer.kill()
  expect(writer.output()).not.toContain('broken')
  expectAllThere(join(directory, 'data'), writer.acknowledged())
})

test.each([
  ['a sync that fails', 'posix/io/sync/*'],
  ['a write that fails', 'posix/io/rw/pwrite*'],
])('after %s nothing is acknowledged any more, and what was is there', async (_what, point) => {
  const directory = await temporaryDirectory()
  const writer = startWriter(directory)
  await eventually('some writes', () => writer.acknowledged().length > 100)
  await writer.control(`enable name=${point},failinfo=5`)
  await eventually('the end', () => writer.lines().includes('broken SQLITE_IOERR'))
  await writer.control(`disable name=${point}`)
  const lines = writer.lines()
  const after = lines.slice(lines.indexOf('broken SQLITE_IOERR') + 1)
  await eventually('refusals', () => writer.lines().length > lines.length + 50)
  expect(new Set([...after, ...writer.lines().slice(lines.length)])).toEqual(
    new Set(['refused SQLITE_IOERR']),
  )
  await writer.kill()
  expectAllThere(directory, writer.acknowledged())
})

test('a server whose disk fails refuses the order, ends with exit code 1, and the next one has every order that was taken', async () => {
  const directory = await temporaryDirectory()
  const envelopes = { taken: await sealOrder('taken'), refused: await sealOrder('refused') }
  const start = async () => {
    const server = startProgram([built('server/main.js')], { ...SERVER_ENVIRONMENT, DATA_DIR: directory })
    const port = await eventually(
      'the server',
      () => /"port":(\d+).*"server started"/.exec(server.output())?.[1],
    )
    const post = async (id: keyof typeof envelopes) => {
      const response = await fetch(`http://127.0.0.1:${port}/orders`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ orderId: bytes32(id), ...envelopes[id] }),
      })
      return { status: response.status, body: await response.json() }
    }
    return { ...server, post }
  }
  const first = await start()
  expect((await first.post('taken')).status).toBe(202)
  await first.control('enable name=posix/io/sync/*,failinfo=5')
  expect(await first.post('refused')).toMatchObject({ status: 503, body: { code: 'storage-unavailable' } })
  const [code] = first.child.exitCode === null ? await once(first.child, 'exit') : [first.child.exitCode]
  expect(code).toBe(1)
  expect(first.output()).toMatch(/"errorCode":"SQLITE_IOERR".*"storage failed: the server ends"/)
  const second = await start()
  expect(await second.post('taken')).toMatchObject({ status: 202, body: { result: 'already-received' } })
  expect((await second.post('refused')).status).toBe(202)
})
