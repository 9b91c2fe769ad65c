// A machine of EC2 with NitroTPM: AWS's tool gives its documents, and tpm2-tools seal to its registers.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/attestation-get-doc.html
import { spawn } from 'node:child_process'
import { hash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import * as z from 'zod'
import { AWS_NITRO_ROOT } from '../../attestation/nitro.js'
import type { Bytes } from '../../protocol/hex.js'
import { withTimeout } from '../../service/waiting.js'
import { type Machine, MachineError } from './machine.js'
import { measurementIn } from './ownDocument.js'
import { lock, unlock } from './secretBox.js'

/** The registers of `measurementOf`. */
const REGISTERS = 'sha384:2,4,12,13'
/** The same as creation data has them: one selection, of SHA-384, of three bytes; and the length of the SHA-256 of their values. */
const SELECTION = '00000001000c031430000020'
/** No password opens it: only the registers do. */
const ATTRIBUTES = 'fixedtpm|fixedparent|adminwithpolicy|noda'
/** The key above it. Without `noda`, a TPM that lost power a few times refuses the key for hours. */
const PARENT_ATTRIBUTES = 'fixedtpm|fixedparent|sensitivedataorigin|userwithauth|restricted|decrypt|noda'
/** A key that signs what nobody reads: the tools have the TPM judge a ticket only where something is signed. */
const SIGNER_ATTRIBUTES = 'fixedtpm|fixedparent|sensitivedataorigin|userwithauth|sign|noda'
const TIMEOUT_MS = 20_000
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

const sealedSchema = z.object({
  /** The object of the TPM that has the key: both parts in Base64, of use in this TPM alone. */
  public: z.base64(),
  private: z.base64(),
  /** The registers at its creation, and the TPM's word that they were. */
  creation: z.base64(),
  ticket: z.base64(),
  /** `lock`, in Base64. */
  locked: z.base64(),
})

const PARTS = ['public', 'private', 'creation', 'ticket'] as const

/**
 * @param options where tpm2-tools find the TPM, the milliseconds that a tool has, and the directories of tools. No variable of the process names
 *   another TPM, which would tell what is sealed to it
 */
export function createNitroTpm({
  tcti = 'device:/dev/tpmrm0',
  timeoutMs = TIMEOUT_MS,
  path = PATH,
} = {}): Machine {
  /** Runs one of the tools in a directory of its own, which holds nothing secret. @returns what it prints */
  async function run(
    directory: string,
    [tool, ...args]: readonly [string, ...string[]],
    input: Bytes = new Uint8Array(),
  ): Promise<Buffer> {
    const child = spawn(tool, args, {
      cwd: directory,
      env: { PATH: path, TPM2TOOLS_TCTI: tcti },
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    // A tool that ends early does not read it.
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
    const ended = once(child, 'close').catch(() => {
      throw new MachineError('tool-missing', tool)
    })
    const answer = await withTimeout(Promise.all([buffer(child.stdout), ended]), timeoutMs)
    if (answer === undefined) {
      // Nothing waits for its end: one that waits for its device, within the kernel, comes to none.
      child.kill('SIGKILL')
      throw new MachineError('tool-late', tool)
    }
    const [output, [code]] = answer
    if (code !== 0) throw new MachineError('tool-failed', tool)
    return output
  }

  async function evidence(userData: Bytes, nonce?: Bytes): Promise<string> {
    return inDirectory(async (directory) => {
      writeFileSync(join(directory, 'user-data'), userData)
      if (nonce) writeFileSync(join(directory, 'nonce'), nonce)
      const asked = nonce ? ['--nonce', 'nonce'] : []
      const document = await run(directory, ['nitro-tpm-attest', '--user-data', 'user-data', ...asked])
      return document.toString('base64')
    })
  }

  /** The same key of the TPM at each start: its owner's seed makes it. */
  async function makeKey(directory: string, name: string, kind: string, attributes: string): Promise<void> {
    await run(directory, ['tpm2_createprimary', '-Q', '-C', 'o', '-G', kind, '-a', attributes, '-c', name])
    await flush(directory)
  }

  const makeParent = (directory: string) => makeKey(directory, 'parent', 'ecc', PARENT_ATTRIBUTES)

  /** Contexts are in files. A TPM has room for three objects, where no resource manager makes more. */
  const flush = (directory: string) => run(directory, ['tpm2_flushcontext', '-Q', '-t'])

  async function seal(directory: string, key: Bytes): Promise<void> {
    await makeParent(directory)
    await run(directory, ['tpm2_createpolicy', '-Q', '--policy-pcr', '-l', REGISTERS, '-L', 'policy'])
    const place = ['-C', 'parent', '-u', 'public', '-r', 'private', '-L', 'policy', '-a', ATTRIBUTES]
    const created = ['-l', REGISTERS, '--creation-data', 'creation', '-t', 'ticket']
    await run(directory, ['tpm2_create', '-Q', ...place, ...created, '-i', '-'], key)
    await flush(directory)
  }

  /**
   * A policy says who may unseal, and anyone on the machine can make an object with any policy, and so with this program's. So the object
   * has to have been created while the registers were what they are now, by the word of the TPM.
   * @throws MachineError where the TPM has not created it with this creation data
   */
  async function assertOwn(directory: string): Promise<void> {
    await run(directory, ['tpm2_pcrread', '-Q', REGISTERS, '-o', 'registers'])
    // Two bytes of length come first.
    const creation = readFileSync(join(directory, 'creation')).subarray(2)
    const now = sha256(readFileSync(join(directory, 'registers')))
    const expected = Buffer.concat([Buffer.from(SELECTION, 'hex'), now])
    if (!creation.subarray(0, expected.length).equals(expected))
      throw new MachineError('foreign-object', 'creation')
    writeFileSync(
      join(directory, 'creation-hash'),
      Buffer.concat([Buffer.of(0, now.length), sha256(creation)]),
    )
    await makeKey(directory, 'signer', 'ecc256:ecdsa-sha256:null', SIGNER_ATTRIBUTES)
    const judged = ['-C', 'signer', '-c', 'sealed', '-d', 'creation-hash', '-t', 'ticket']
    const signed = ['-g', 'sha256', '-o', 'signature', '--attestation', 'certificate']
    await run(directory, ['tpm2_certifycreation', '-Q', ...judged, ...signed])
    await flush(directory)
  }

  async function unseal(directory: string): Promise<Bytes> {
    await makeParent(directory)
    const place = ['-C', 'parent', '-u', 'public', '-r', 'private', '-c', 'sealed']
    await run(directory, ['tpm2_load', '-Q', ...place])
    await flush(directory)
    await assertOwn(directory)
    const key = await run(directory, ['tpm2_unseal', '-Q', '-c', 'sealed', '-p', `pcr:${REGISTERS}`])
    await flush(directory)
    return Uint8Array.from(key)
  }

  return {
    format: 'aws-nitro',
    evidence,
    measurement: async () => measurementIn(await evidence(new Uint8Array(32)), AWS_NITRO_ROOT),
    sealing: {
      seal: (secret) =>
        inDirectory(async (directory) => {
          const key = crypto.getRandomValues(new Uint8Array(32))
          await seal(directory, key)
          const read = (name: string) => [name, readFileSync(join(directory, name)).toString('base64')]
          const locked = Buffer.from(await lock(key, secret)).toString('base64')
          const sealed = { ...Object.fromEntries(PARTS.map(read)), locked }
          return Uint8Array.from(Buffer.from(JSON.stringify(sealed)))
        }),
      unseal: (sealed) =>
        inDirectory(async (directory) => {
          const parts = sealedSchema.parse(JSON.parse(new TextDecoder().decode(sealed)))
          for (const name of PARTS) writeFileSync(join(directory, name), parts[name], 'base64')
          const key = await unseal(directory)
          return unlock(key, Uint8Array.from(Buffer.from(parts.locked, 'base64')))
        }),
    },
  }
}

const sha256 = (bytes: Uint8Array): Buffer => hash('sha256', bytes, 'buffer')

async function inDirectory<T>(use: (directory: string) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'enclave-'))
  try {
    return await use(directory)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
