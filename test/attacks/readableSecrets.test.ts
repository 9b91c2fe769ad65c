// Actor: any other account of the machine, such as that of a web server or a cron job that was taken over; or an attacker who runs code in
// the server, through a defect that the internet can reach.
// Cost: one `cat`. Such an account needs no further right.
// Effect: `cp .env.example .env` makes a file that every user can read, and server and enclave took their keys from it without a warning. The
// container and the documented commands ran both as one user, who reads the enclave's file, environment and memory. LEDGER_MASTER_KEY
// opens every portfolio of the past, and ENCLAVE_PRIVATE_KEY pays out of the pool.
// Now: no program starts with keys that other users can read. Everything that ships runs the enclave as another user, so that an attacker in
// the server gets what that has: a relayer's gas and no order.
import { exec } from 'node:child_process'
import { chmod, copyFile, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { enclaveEnvironment } from '../enclave/support/environment.js'
import { built } from '../support/built.js'
import { shippedDeployments } from '../support/deployments.js'
import { eventually } from '../support/eventually.js'
import { startProgram } from '../support/program.js'
import { SERVER_ENVIRONMENT } from '../support/serverEnvironment.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'

const STARTED = 'started'
const { RELAYER_PRIVATE_KEY } = SERVER_ENVIRONMENT
const { LEDGER_MASTER_KEY = '' } = enclaveEnvironment

/** Each with the variable that names the file of its keys, its variables but DATA_DIR, and the key that the neighbour is after. */
const VICTIMS = [
  ['server/main.js', [], 'ENV_FILE', SERVER_ENVIRONMENT, RELAYER_PRIVATE_KEY],
  ['enclave/main.js', ['--check'], 'ENCLAVE_ENV_FILE', enclaveEnvironment, LEDGER_MASTER_KEY],
] as const

async function fileOf(variables: Readonly<Record<string, string>>, name: string, mode: string) {
  const directory = await temporaryDirectory()
  const isServer = variables === SERVER_ENVIRONMENT
  const all = { ...variables, ...(isServer && { DATA_DIR: join(directory, 'data') }) }
  const lines = Object.entries(all).map(([variable, value]) => `${variable}=${value}\n`)
  await writeFile(join(directory, name), lines.join(''))
  await chmod(join(directory, name), mode)
  return { directory, path: join(directory, name) }
}

describe.each(VICTIMS)('%s', (program, args, fileVariable, variables, key) => {
  /** `started`, or what the program says on its way out. */
  async function outcomeOf(path: string): Promise<string> {
    const run = startProgram(built(program), args, { env: { [fileVariable]: path } })
    const end: { code?: number | null } = {}
    void run.exit.then((code) => Object.assign(end, { code }))
    await eventually('a start, or an end', () => 'code' in end || run.err().includes('"server started"'))
    return end.code === undefined || end.code === 0 ? STARTED : run.err()
  }

  test.each(['600', '400'])('starts with keys in a file of mode %s', async (mode) => {
    expect(await outcomeOf((await fileOf(variables, 'keys.env', mode)).path)).toBe(STARTED)
  })

  test.each(['644', '640', '602'])('refuses keys in a file of mode %s', async (mode) => {
    const { path } = await fileOf(variables, 'keys.env', mode)
    const said = await outcomeOf(path)
    expect(said).toContain(`${fileVariable}: others than its owner have rights on it: chmod 600 ${path}`)
    expect(said).not.toContain(key)
  })
})

test('the server refuses a readable .env that no variable names', async () => {
  const { directory, path } = await fileOf(SERVER_ENVIRONMENT, '.env', '644')
  const run = startProgram(built('server/main.js'), [], { cwd: directory })
  expect(await run.exit).toBe(1)
  expect(run.err()).toContain(`chmod 600 ${path}`)
})

test.each(shippedDeployments())(
  '$name runs server and enclave as two users with files of their own',
  ({ server, enclave }) => {
    for (const { user } of [server, enclave]) expect(['root', '0', '']).not.toContain(user)
    expect(server.user).not.toBe(enclave.user)
    expect(server.files.filter((file) => enclave.files.includes(file))).toEqual([])
    expect(server.files).not.toContain('enclave.env')
    expect(enclave.files).not.toContain('server.env')
  },
)

test('the documented commands for systemd make files for their owner alone, who is the user of the program', async () => {
  const page = await readFile('docs/operations/first-day.md', 'utf8')
  const commands = page.matchAll(
    /^sudo install -o (\S+) -m 600 (\.env\S*) \/etc\/confidential-trading\/(\S+)$/gm,
  )
  const systemd = shippedDeployments().find(({ name }) => name === 'systemd')
  const directory = await temporaryDirectory()
  const made: string[] = []
  for (const [, owner, source = '', name = ''] of commands) {
    await copyFile(source, join(directory, source))
    await promisify(exec)(`umask 022; install -m 600 ${source} ${name}`, { cwd: directory })
    expect((await stat(join(directory, name))).mode & 0o777, name).toBe(0o600)
    const parties = [systemd?.server, systemd?.enclave].filter((party) => party?.files.includes(name))
    expect(parties.map((party) => party?.user)).toEqual([owner])
    made.push(name)
  }
  expect(made.sort()).toEqual(['enclave.env', 'server.env'])
})
