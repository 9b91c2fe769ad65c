// Actor: an attacker who runs code in the server, through a defect that the internet can reach.
// Cost: that defect, and one `cat`.
// Effect: the container and the documented commands ran server and enclave as one user. That user reads
// the enclave's file, environment and memory. LEDGER_MASTER_KEY opens every portfolio of the past, and
// ENCLAVE_PRIVATE_KEY pays out of the pool.
// Now: the attacker gets what the server has: a relayer's gas and no order. Everything that ships runs the
// enclave as another user, and the system keeps the two apart in both directions. As root this test reads as
// both users; otherwise it checks owners and modes.
import { exec, execFile } from 'node:child_process'
import { chmod, copyFile, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { shippedDeployments } from '../support/deployments.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'

const isRoot = process.getuid?.() === 0
/** Made up, as the test's machine has no such users. */
const UIDS: Record<string, number> = { 'trading-server': 10_001, 'trading-enclave': 10_002 }

interface Installed {
  readonly path: string
  readonly owner: string
}

/** The documented commands that lay out the configuration for systemd, run in a directory of the test's. */
async function installAsDocumented(directory: string): Promise<Map<string, Installed>> {
  const text = await readFile('docs/operations/first-day.md', 'utf8')
  const found = [
    ...text.matchAll(/^sudo install -o (\S+) -m 600 (\.env\S*) \/etc\/confidential-trading\/(\S+)$/gm),
  ]
  const files = found.map(([, owner = '', source = '', name = '']) => ({ owner, source, name }))
  for (const { owner, source, name } of files) {
    await copyFile(source, join(directory, source))
    const ownership = isRoot ? `-o ${UIDS[owner]}` : ''
    await promisify(exec)(`umask 022; install ${ownership} -m 600 ${source} ${name}`, { cwd: directory })
  }
  return new Map(files.map(({ owner, name }) => [name, { owner, path: join(directory, name) }]))
}

/** Whether the system lets a user read a path. Only root can try that for another user. */
async function reads(user: string, { path }: Installed): Promise<boolean> {
  const uid = UIDS[user] ?? 0
  return promisify(execFile)('cat', [path], { uid, gid: uid }).then(
    () => true,
    () => false,
  )
}

describe.each(shippedDeployments())('$name', ({ server, enclave }) => {
  test('runs server and enclave as two users, neither of them root', () => {
    for (const { user } of [server, enclave]) expect(['root', '0', '']).not.toContain(user)
    expect(server.user).not.toBe(enclave.user)
  })

  test('gives neither the other’s configuration', () => {
    expect(server.files.filter((file) => enclave.files.includes(file))).toEqual([])
    expect(server.files).not.toContain('enclave.env')
    expect(enclave.files).not.toContain('server.env')
  })
})

describe('the files that the documented commands install for systemd', () => {
  const systemd = shippedDeployments().find(({ name }) => name === 'systemd')
  const parties = [systemd?.server, systemd?.enclave]

  async function installed() {
    const directory = await temporaryDirectory()
    await chmod(directory, 0o755)
    return installAsDocumented(directory)
  }

  test('are for their owner alone, who is the user of the program that takes its keys from them', async () => {
    const files = await installed()
    expect([...files.keys()].sort()).toEqual(['enclave.env', 'server.env'])
    for (const [name, { path, owner }] of files) {
      expect((await stat(path)).mode & 0o777, name).toBe(0o600)
      expect(parties.filter((party) => party?.files.includes(name)).map((party) => party?.user)).toEqual([
        owner,
      ])
    }
  })

  test.runIf(isRoot)('are read by that user, and refused to the other', async () => {
    const files = await installed()
    for (const party of parties) {
      for (const [name, file] of files)
        expect(await reads(party?.user ?? '', file), `${party?.user} reads ${name}`).toBe(
          party?.files.includes(name),
        )
    }
  })
})
