// Actor: any other account of the machine, such as that of a web server or a cron job that was taken over.
// Cost: one `cat`. Such an account needs no further right.
// Effect: `cp .env.example .env` makes a file that every user can read, and server and enclave took
// their keys from it without a warning. The relayer's key spends its gas, LEDGER_MASTER_KEY reads every
// portfolio, and ENCLAVE_PRIVATE_KEY pays out of the pool.
// Now: no program starts with keys that other users can read, and the documented commands make files that they
// cannot.
import { exec } from 'node:child_process'
import { chmod, copyFile, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { enclaveEnvironment } from '../enclave/support/environment.js'
import { built } from '../support/built.js'
import { startProgram } from '../support/program.js'
import { SERVER_ENVIRONMENT } from '../support/serverEnvironment.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'
import { readAsNeighbour } from './support/neighbour.js'

const STARTED = 'started'

interface Victim {
  readonly program: string
  readonly args: readonly string[]
  /** Names the file with the keys. */
  readonly fileVariable: 'ENV_FILE' | 'ENCLAVE_ENV_FILE'
  /** The file's contents, but for DATA_DIR. */
  readonly variables: Readonly<Record<string, string>>
  /** The key that the neighbour is after. */
  readonly key: string
}

const VICTIMS: Record<string, Victim> = {
  'the server': {
    program: 'server/main.js',
    args: [],
    fileVariable: 'ENV_FILE',
    variables: SERVER_ENVIRONMENT,
    key: SERVER_ENVIRONMENT.RELAYER_PRIVATE_KEY,
  },
  'the enclave': {
    program: 'enclave/main.js',
    args: ['--check'],
    fileVariable: 'ENCLAVE_ENV_FILE',
    variables: enclaveEnvironment,
    key: enclaveEnvironment.LEDGER_MASTER_KEY ?? '',
  },
}

/** A directory that others may look into, as most are. */
async function openDirectory(): Promise<string> {
  const directory = await temporaryDirectory()
  await chmod(directory, 0o755)
  return directory
}

async function keysOf(victim: Victim, directory: string, mode: number): Promise<string> {
  const path = join(directory, 'keys.env')
  const isServer = victim.fileVariable === 'ENV_FILE'
  const lines = Object.entries({
    ...victim.variables,
    ...(isServer && { DATA_DIR: join(directory, 'data') }),
  })
  await writeFile(path, lines.map(([name, value]) => `${name}=${value}\n`).join(''))
  await chmod(path, mode)
  return path
}

/** Starts the victim: `started`, or what it says on its way out. */
async function outcomeOf({ program, args, fileVariable }: Victim, path: string): Promise<string> {
  const run = startProgram(built(program), args, { env: { [fileVariable]: path } })
  const listening = expect.poll(() => run.err(), { timeout: 20_000 }).toContain('"server started"')
  const code = await Promise.race([run.exit, listening.then(() => 0)])
  listening.catch(() => undefined)
  return code === 0 ? STARTED : run.err()
}

describe.each(Object.entries(VICTIMS))('%s', (_name, victim) => {
  test('starts with keys that its user alone can read', async () => {
    for (const mode of [0o600, 0o400]) {
      const path = await keysOf(victim, await openDirectory(), mode)
      expect(await readAsNeighbour(path)).toBeNull()
      expect(await outcomeOf(victim, path)).toBe(STARTED)
    }
  })

  test.each([0o644, 0o640, 0o602])('refuses keys in a file of mode %o', async (mode) => {
    const path = await keysOf(victim, await openDirectory(), mode)
    if ((mode & 0o004) !== 0) expect(await readAsNeighbour(path)).toContain(victim.key)
    const said = await outcomeOf(victim, path)
    expect(said).toContain(
      `${victim.fileVariable}: others than its owner have rights on it: chmod 600 ${path}`,
    )
    expect(said).not.toContain(victim.key)
  })
})

test('the server refuses a readable .env that no variable names', async () => {
  const { variables, key } = VICTIMS['the server'] ?? { variables: {}, key: '' }
  const directory = await openDirectory()
  const lines = Object.entries({ ...variables, DATA_DIR: join(directory, 'data') })
  await writeFile(join(directory, '.env'), lines.map(([name, value]) => `${name}=${value}\n`).join(''))
  await chmod(join(directory, '.env'), 0o644)
  expect(await readAsNeighbour(join(directory, '.env'))).toContain(key)
  const run = startProgram(built('server/main.js'), [], { cwd: directory })
  expect(await run.exit).toBe(1)
  expect(run.err()).toContain(`chmod 600 ${join(directory, '.env')}`)
})

test('the documented commands make files that the neighbour cannot read', async () => {
  const page = await readFile('docs/operations/first-day.md', 'utf8')
  const commands = [
    ...page.matchAll(/^(?:sudo )?(install (?:-[og] \d+ )*-m 600 (\.env\S*)\.example (\S+))$/gm),
  ]
  expect(commands.map(([, , , made]) => made)).toEqual(['server.env', 'enclave.env'])
  const directory = await openDirectory()
  for (const [, command = '', source = '', made = ''] of commands) {
    await copyFile(`${source}.example`, join(directory, `${source}.example`))
    await promisify(exec)(`umask 022; ${command}`, { cwd: directory })
    expect((await stat(join(directory, made))).mode & 0o777, command).toBe(0o600)
    expect(await readAsNeighbour(join(directory, made)), command).toBeNull()
  }
  const others = ['operations/every-day', 'operations/on-fire', 'enclave']
  const documents = [page, ...(await Promise.all(others.map((name) => readFile(`docs/${name}.md`, 'utf8'))))]
  for (const text of documents) expect(text).not.toMatch(/\bcp \.env/)
})
