// An enclave on a machine of dstack, as a process: the holders' commands found it and give it its keys, and a restart needs none of them.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { sha256 } from '../../src/attestation/bytes.js'
import { createStartingVerifier } from '../../src/attestation/starting.js'
import { BORN, readStatement } from '../../src/attestation/statement.js'
import { dstackBelow } from '../../src/attestation/tdx/index.js'
import { createVerifier } from '../../src/attestation/verify.js'
import { configDigest, configurationOf } from '../../src/attestation/write.js'
import { attestedSettings } from '../../src/enclave/attested/settings.js'
import { loadSettings } from '../../src/enclave/commonConfig.js'
import { askEvidence } from '../../src/operate/attest/report.js'
import type { Hex } from '../../src/protocol/hex.js'
import { tdx } from '../attestation/vectors.js'
import { startAwaiting, startBorn } from '../support/attestedEnclaves.js'
import { LOCAL_PROVIDER, startDstack } from '../support/dstackMachine.js'
import { operate } from '../support/operate.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'

const NONCE: Hex = `0x${'07'.repeat(32)}`
const [accepted] = JSON.parse(JSON.stringify(tdx.base.expected.programs))

it('holders found an enclave on dstack by their commands, the owner names it, and after a kill its keys are back', async () => {
  const { sandbox, domain } = await startBorn()
  const { socket, options, guest } = await startDstack({ now: Date.now() })
  const directory = await temporaryDirectory()
  const file = (name: string) => join(directory, name)
  const verifyBorn = createVerifier(BORN, '', undefined, dstackBelow(options.root))
  const verify = createStartingVerifier('', undefined, dstackBelow(options.root))
  const env = { RPC_URL: sandbox.info.rpcUrl, OWNER_PRIVATE_KEY: sandbox.accounts.owner.privateKey }
  const run = async (...args: string[]) => {
    const ended = await operate(['attest', ...args, '--yes', '--json'], { verify, env })
    expect(ended).toMatchObject({ exit: 0 })
    return JSON.parse(ended.out)
  }
  const holders: string[] = []
  for (const name of ['owner', 'bank']) {
    const { publicKey } = await run('key', '--key-file', file(`${name}.key`))
    holders.push(publicKey)
  }
  const enclave = await startAwaiting(
    sandbox,
    { SANDBOX_DSTACK: socket, SANDBOX_ROOT: options.root, SANDBOX_INTEL: options.intel.service },
    { ATTESTATION_PLATFORM: 'dstack', MASTER_KEY_HOLDERS: holders.join() },
  )
  const { url } = enclave
  const config = loadSettings(attestedSettings(['dstack']), {
    ENCLAVE_ENV_FILE: join(enclave.directory, '.env.enclave'),
  })
  const keyProvider = await sha256(JSON.stringify(LOCAL_PROVIDER))
  const configuration = await configDigest(configurationOf(config))
  const programs = [{ label: 'dstack', tdx: { ...accepted.tdx, keyProvider }, configuration }]
  await writeFile(file('policy.json'), JSON.stringify(programs))
  const { keyId, secretKey } = sandbox.secrets.enclaveBroker
  await writeFile(file('broker.json'), JSON.stringify({ keyId, secretKey }), { mode: 0o600 })

  const judging = ['--next', '--policy', file('policy.json')]
  judging.push('--chain-id', `${domain.chainId}`, '--escrow', domain.escrow)
  const owner = ['--key-file', file('owner.key')]
  const founding = ['found', '--enclave-url', url, ...owner, '--out', file('shares.json'), ...judging]
  // As shipped, the command trusts Intel's root.
  const shipped = await operate(['attest', ...founding, '--yes'])
  expect(shipped).toMatchObject({ exit: 3, err: expect.stringContaining('unknown-root') })
  await run(...founding)
  for (const name of ['owner', 'bank']) {
    const key = ['--key-file', file(`${name}.key`)]
    const share = file(`${name}.share`)
    await run('accept', '--shares', file('shares.json'), ...key, '--out', share, ...judging)
    const broker = name === 'owner' ? ['--broker-keys', file('broker.json')] : []
    await run('provision', '--enclave-url', url, '--share', share, ...key, ...broker, ...judging)
  }

  const asServer = { ENCLAVE_TRIGGER_SECRET: sandbox.secrets.triggerSecret }
  const keysNow = async () => {
    expect(await (await fetch(`${url}/health`)).json()).toMatchObject({ keys: 'present', mode: 'attested' })
    const attestation = await askEvidence(asServer, url, NONCE)
    await writeFile(file('evidence.json'), JSON.stringify(attestation))
    const { statement } = await readStatement(attestation.statement, BORN)
    const expected = { ...domain, programs, signer: statement.signer, nonce: NONCE, now: Date.now() }
    return verifyBorn(attestation, expected)
  }
  const before = await keysNow()
  // A program that the chain does not name opens nothing.
  const named = ['signer', '--attestation', file('evidence.json'), '--policy', file('policy.json')]
  const rotation = await operate([...named, '--yes', '--directory', sandbox.directory], { env, verifyBorn })
  expect(rotation, rotation.err).toMatchObject({ exit: 0 })
  await enclave.restart()
  const after = await keysNow()
  expect(after).toMatchObject({ label: 'dstack', map: 'tdx', measurement: before.measurement })
  expect(after.statement).toEqual({ ...before.statement, boot: 2 })
  guest.isUp = false
  await expect(askEvidence(asServer, url, NONCE)).rejects.toThrow('503 (evidence-unavailable)')
  const log = () => readFile(join(enclave.directory, 'enclave.log'), 'utf8')
  // The answer may come before its line has been written.
  const refused = /"code":"agent-refused","service":"GetQuote".*"msg":"evidence not given"/
  await expect.poll(log).toMatch(refused)
  expect(await log()).toContain('"msg":"keys unsealed"')
})
