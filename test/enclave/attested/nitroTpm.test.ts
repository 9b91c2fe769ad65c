// What a TPM keeps for an attested enclave, and what the operator of its machine can put in its place. The TPM is swtpm.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createNitroTpm } from '../../../src/enclave/attested/nitroTpm.js'
import { createSealedKeys } from '../../../src/enclave/attested/sealedKeys.js'
import { lock } from '../../../src/enclave/attested/secretBox.js'
import { bytesToHex, type Hex } from '../../../src/protocol/hex.js'
import { createLogLines } from '../../support/logLines.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { type Machine, useMachine } from './tpm.js'

/** What the firmware measures of the accepted image, and of one that the operator has made. */
const ACCEPTED = { 2: '5', 4: 'a' }
const OPERATORS = { 2: '5', 4: 'b' }
const CONFIGURATION: Hex = `0x${'cc'.repeat(32)}`
const { signal } = new AbortController()
const FOUNDED = { master: new Uint8Array(32).fill(7), brokerKeys: { keyId: 'PK', secretKey: 'secret' } }

async function start() {
  const cleanUp = new AsyncDisposableStack()
  onTestFinished(() => cleanUp.disposeAsync())
  const directory = await temporaryDirectory()
  const machineOf = async () => {
    const machine = await useMachine(cleanUp)
    const { logger } = createLogLines()
    return {
      ...machine,
      keys: createSealedKeys({
        directory,
        machine: machine.nitroTpm,
        configuration: CONFIGURATION,
        objection: async () => undefined,
        // What another image has made is refused as a busy TPM is.
        times: { chainAgainMs: 1, deviceAgainMs: 1 },
        logger,
      }),
    }
  }
  return { machine: await machineOf(), machineOf, file: join(directory, 'sealed-keys') }
}

/** An object below the key that every program can make, which opens for the accepted registers: in a file as the enclave writes it. */
async function forge({ tool }: Machine, registers: Uint8Array): Promise<Record<string, string>> {
  const directory = await temporaryDirectory()
  const flush = () => tool(directory, ['tpm2_flushcontext', '-t'])
  const key = new Uint8Array(32).fill(9)
  await writeFile(join(directory, 'registers'), registers)
  await writeFile(join(directory, 'key'), key)
  const parent = 'fixedtpm|fixedparent|sensitivedataorigin|userwithauth|restricted|decrypt|noda'
  await tool(directory, ['tpm2_createprimary', '-C', 'o', '-G', 'ecc', '-a', parent, '-c', 'parent'])
  await flush()
  const accepted = ['--policy-pcr', '-l', 'sha384:2,4,12,13', '-f', 'registers', '-L', 'policy']
  await tool(directory, ['tpm2_createpolicy', ...accepted])
  const place = ['-C', 'parent', '-u', 'public', '-r', 'private', '-L', 'policy', '-i', 'key']
  const created = ['-l', 'sha384:2,4,12,13', '--creation-data', 'creation', '-t', 'ticket']
  const attributes = ['-a', 'fixedtpm|fixedparent|adminwithpolicy|noda']
  await tool(directory, ['tpm2_create', ...place, ...attributes, ...created])
  await flush()
  const { brokerKeys } = FOUNDED
  const master = bytesToHex(new Uint8Array(32).fill(0x11))
  const chosen = JSON.stringify({ v: 1, master, configuration: CONFIGURATION, ...brokerKeys })
  const locked = await lock(key, new TextEncoder().encode(chosen))
  const parts = ['public', 'private', 'creation', 'ticket'].map(
    async (name) => [name, await readFile(join(directory, name), 'base64')] as const,
  )
  return { ...Object.fromEntries(await Promise.all(parts)), locked: Buffer.from(locked).toString('base64') }
}

it('the operator boots an image of his own, seals a master key that he knows for the accepted one, and boots that: it waits for its holders', async () => {
  const { machine, file } = await start()
  await machine.boot(ACCEPTED)
  await machine.keys.save(FOUNDED, signal)
  const own: Record<string, string> = JSON.parse(await readFile(file, 'utf8'))
  const directory = await temporaryDirectory()
  // Anyone can compute them: `operate measure` does.
  await machine.tool(directory, ['tpm2_pcrread', 'sha384:2,4,12,13', '-o', 'registers'])
  const registers = await readFile(join(directory, 'registers'))

  await machine.boot(OPERATORS)
  expect(await machine.keys.load(signal)).toBeUndefined()
  const forged = await forge(machine, registers)

  await machine.boot(ACCEPTED)
  const { creation = '', ticket = '' } = own
  for (const put of [forged, { ...forged, creation }, { ...forged, creation, ticket }]) {
    await writeFile(file, JSON.stringify(put))
    expect(await machine.keys.load(signal)).toBeUndefined()
  }
  await writeFile(file, JSON.stringify(own))
  expect(await machine.keys.load(signal)).toEqual(FOUNDED)
})

it('a secret that one machine sealed opens after its restarts, and not below a driver, an extension, another command line or in another machine', async () => {
  const { machine, machineOf } = await start()
  await machine.boot(ACCEPTED)
  await machine.keys.save(FOUNDED, signal)
  await machine.boot(ACCEPTED)
  expect(await machine.keys.load(signal)).toEqual(FOUNDED)
  // A driver that the operator's UEFI variables name runs before the image, and could extend PCR 4 as it would.
  for (const other of [{ 2: 'd' }, { 12: 'c' }, { 13: 'e' }]) {
    await machine.boot({ ...ACCEPTED, ...other })
    expect(await machine.keys.load(signal)).toBeUndefined()
  }
  const other = await machineOf()
  await other.boot(ACCEPTED)
  expect(await other.keys.load(signal)).toBeUndefined()
})

it('a tool that ignores the request to end, and has another one hold its output, is given up in time and killed', async () => {
  const path = await temporaryDirectory()
  const script = `#!/bin/sh\ntrap "" TERM\nsleep 20 &\necho $$ $! > '${path}/pids'\nwait\n`
  await writeFile(join(path, 'nitro-tpm-attest'), script, { mode: 0o700 })
  const { evidence } = createNitroTpm({ path: `${path}:${process.env.PATH}`, timeoutMs: 1_000 })
  const late = { code: 'tool-late', asked: 'nitro-tpm-attest' }
  const since = performance.now()
  await expect(evidence(new Uint8Array(32))).rejects.toMatchObject(late)
  expect(performance.now() - since).toBeLessThan(10_000)
  const [own = 0, other = 0] = (await readFile(join(path, 'pids'), 'utf8')).split(' ').map(Number)
  process.kill(other)
  await vi.waitFor(() => expect(() => process.kill(own, 0)).toThrow('ESRCH'))
})
