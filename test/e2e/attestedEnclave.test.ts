// An enclave whose keys are born in it, as processes: founded, provisioned, verified, and restarted.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { measurementOf } from '../../src/attestation/policy.js'
import { BORN } from '../../src/attestation/statement.js'
import { createVerifier } from '../../src/attestation/verify.js'
import { askEvidence } from '../../src/operate/attest/report.js'
import { attestedSigner } from '../../src/operate/attest/signerEvidence.js'
import { publicKeyOfKey } from '../../src/operate/secretFiles.js'
import { readDeployment } from '../../src/operate/settings.js'
import { problemSchema } from '../../src/protocol/api.js'
import { type Hex, hexToBytes } from '../../src/protocol/hex.js'
import { openShare, sealShare } from '../../src/protocol/masterShare.js'
import {
  type BrokerKeys,
  foundingSchema,
  provisionedSchema,
  provisioningSchema,
  sealBrokerKeys,
  signFounding,
  signProvision,
} from '../../src/protocol/provisioning.js'
import { signRunMessage } from '../../src/protocol/runMessage.js'
import { runDemo } from '../../src/sandbox/demo.js'
import { startAwaiting, startBorn } from '../support/attestedEnclaves.js'
import { eventually } from '../support/eventually.js'
import { operate } from '../support/operate.js'
import { orderJob } from '../support/residentHarness.js'

const healthOf = async (url: string) => (await fetch(`${url}/health`)).json()

it('an order settles by keys that were born in the enclave; a restart of the same program needs nobody, and has no keys once it is revoked', async () => {
  const { sandbox, attested, url, domain } = await startBorn()
  const { info, secrets } = sandbox
  const verify = createVerifier(BORN, attested.root, 'test')
  const from = { enclaveUrl: url, env: { ENCLAVE_TRIGGER_SECRET: secrets.triggerSecret } }
  const keysNow = () =>
    attestedSigner(
      { from, policy: join(sandbox.directory, 'policy.json'), named: undefined },
      readDeployment(sandbox.directory),
      verify,
    )
  const before = await keysNow()

  await sandbox.enclave().kill()
  await eventually('the enclave is back with its keys', async () => {
    const health = await healthOf(url).catch(() => undefined)
    return health?.boot === 2 && health.keys === 'present' ? health : undefined
  })
  expect(await keysNow()).toEqual(before)

  await runDemo(sandbox, () => undefined)
  const shown = await eventually('the server shows the evidence', async () => {
    const key = await (await fetch(`${info.url}/enclave-key`)).json()
    return key.attestation
  })
  const expected = { ...domain, programs: attested.programs, signer: secrets.enclaveSigner, now: Date.now() }
  expect((await verify(shown, expected)).statement.sealKey).toBe(secrets.intentPublicKey)
  expect(await healthOf(url)).toMatchObject({ mode: 'test', keys: 'present' })
  // Each start fails once at most before there is a server, however often it tries.
  const log = await readFile(join(sandbox.directory, 'enclave.log'), 'utf8')
  const count = (message: string) => log.split(`"msg":"${message}"`).length - 1
  expect(count('evidence not posted')).toBeLessThanOrEqual(count('enclave started'))
  expect(log).not.toContain(secrets.enclaveBroker.secretKey)
  expect((await fetch(`${url}/provisioning`)).status).toBe(409)
  // A stranger has no secret of jobs, and a nonce has one form.
  expect((await fetch(`${url}/attestation?nonce=${'0'.repeat(64)}`)).status).toBe(401)
  await expect(askEvidence({ ENCLAVE_TRIGGER_SECRET: secrets.triggerSecret }, url, '0x00')).rejects.toThrow()

  // Its hole was found, and its operator would like to go on with it.
  const measurement = await measurementOf('pcrs', attested.programs[0]?.pcrs ?? {})
  const env = { RPC_URL: info.rpcUrl, GUARDIAN_PRIVATE_KEY: sandbox.accounts.guardian.privateKey }
  const revoked = await operate(['revoke', measurement, '--yes', '--directory', sandbox.directory], { env })
  expect(revoked, revoked.err).toMatchObject({ exit: 0 })
  await sandbox.enclave().kill()
  await eventually('the enclave is back without its keys', async () => {
    const health = await healthOf(url).catch(() => undefined)
    return health?.boot === 3 && health.keys === 'awaited'
  })
})

it('an enclave that waits for its keys takes them from as many holders as it takes, and from nobody else', async () => {
  const { sandbox, attested, domain } = await startBorn()
  const { holders } = attested
  const enclave = await startAwaiting(sandbox, { SANDBOX_DEVICE: attested.device })
  const { url } = enclave
  const [owner = '0x', second = '0x', third = '0x'] = holders
  const post = async (body: unknown, path = '/provisioning') => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const response = await fetch(`${url}${path}`, { method: 'POST', body: text })
    const answer: unknown = await response.json()
    return response.ok ? answer : problemSchema.parse(answer).code
  }
  const sealKeyNow = async (): Promise<Hex> => {
    const { statement } = provisioningSchema.parse(await (await fetch(`${url}/provisioning`)).json())
    return JSON.parse(statement).sealKey
  }
  const found = async () => {
    const signature = signFounding(await sealKeyNow(), owner)
    const { shares } = foundingSchema.parse(await post({ signature }, '/provisioning/founding'))
    return Promise.all(
      shares.map((share, index) =>
        openShare(share, hexToBytes(holders[index] ?? '0x'), ['share-of-holder', domain]),
      ),
    )
  }
  const provisionOf = async (
    holder: Hex,
    share: Awaited<ReturnType<typeof found>>[number] | undefined,
    { sealKey, signer = holder, broker }: { sealKey: Hex; signer?: Hex; broker?: Omit<BrokerKeys, 'v'> },
  ) => {
    if (share === undefined) throw new Error('no share')
    const keys = broker && ({ v: 1, keyId: broker.keyId, secretKey: broker.secretKey } as const)
    const envelopes = {
      envelope: await sealShare(share, sealKey, ['share-for-enclave', domain]),
      ...(keys && { brokerKeys: await sealBrokerKeys(keys, sealKey, domain) }),
    }
    return {
      holder: publicKeyOfKey(holder),
      ...envelopes,
      signature: signProvision(envelopes, sealKey, signer),
    }
  }

  expect(await healthOf(url)).toMatchObject({ mode: 'test', keys: 'awaited' })
  const job = await orderJob()
  const body = JSON.stringify(job)
  const { triggerSecret, enclaveBroker: broker, serverBroker } = sandbox.secrets
  const headers = { ...signRunMessage(triggerSecret, { kind: 'job', runId: job.runId, body }) }
  const refused = await fetch(url, { method: 'POST', headers, body })
  expect([refused.status, problemSchema.parse(await refused.json()).code]).toEqual([503, 'keys-awaited'])
  const sealKey = await sealKeyNow()
  // A stranger at the door has it ask neither device nor nodes, however often he knocks.
  const foreign = [signFounding(sealKey, second), signFounding(publicKeyOfKey(second), owner)]
  expect(await post('', '/provisioning/founding')).toBe('invalid-body')
  for (const signature of foreign)
    expect(await post({ signature }, '/provisioning/founding')).toBe('provision-unsigned')
  const shares = await found()
  const others = await found()
  const first = await provisionOf(owner, shares[0], { sealKey, broker })
  const stranger: Hex = `0x${'77'.repeat(32)}`
  // The owner gives keys of an account of his own, and then of none.
  for (const other of [serverBroker, { ...broker, secretKey: 'secret' }])
    expect(await post(await provisionOf(owner, shares[0], { sealKey, broker: other }))).toBe('wrong-account')
  expect(await post('rubbish')).toBe('invalid-body')
  expect(await post({ ...first, more: true })).toBe('invalid-body')
  expect(await post('x'.repeat(16_385))).toBe('body-too-large')
  expect(await post(await provisionOf(stranger, shares[0], { sealKey }))).toBe('unknown-holder')
  expect(await post(await provisionOf(second, shares[1], { sealKey, broker }))).toBe('unknown-holder')
  expect(await post(await provisionOf(second, shares[1], { sealKey, signer: stranger }))).toBe(
    'provision-unsigned',
  )
  const elsewhere = publicKeyOfKey(stranger)
  expect(await post(await provisionOf(second, shares[1], { sealKey: elsewhere }))).toBe('provision-unsigned')
  const unreadable = await provisionOf(second, shares[1], { sealKey })
  const envelope = { ...unreadable.envelope, tag: `0x${'00'.repeat(16)}` as const }
  const signed = { ...unreadable, envelope, signature: signProvision({ envelope }, sealKey, second) }
  expect(await post(signed)).toBe('invalid-share')
  const weak = shares[1] && { ...shares[1], threshold: 3 }
  expect(await post(await provisionOf(second, weak, { sealKey }))).toBe('invalid-share')

  const given = async (body: unknown) => provisionedSchema.parse(await post(body))
  expect(await given(first)).toMatchObject({ hasBrokerKeys: true, isReady: false })
  // The same once more, and a share of another founding, make nothing.
  expect((await given(first)).given).toEqual([publicKeyOfKey(owner)])
  expect(await given(await provisionOf(second, others[1], { sealKey }))).toMatchObject({ isReady: false })

  // What was given ends with its start, and is of no use to the next one.
  await enclave.restart()
  expect(await sealKeyNow()).not.toBe(sealKey)
  expect(await post(first)).toBe('provision-unsigned')
  const next = { sealKey: await sealKeyNow() }
  expect((await given(await provisionOf(third, shares[2], next))).given).toEqual([publicKeyOfKey(third)])
  const ready = await given(await provisionOf(owner, shares[0], { ...next, broker }))
  expect(ready).toMatchObject({ isReady: true, threshold: 2 })
  expect(await post(first)).toBe('keys-present')
  expect(await post('', '/provisioning/founding')).toBe('keys-present')

  // A kill behind the file needs nobody; without the file, or with another program's, holders are needed again.
  await enclave.restart()
  expect(await healthOf(url)).toMatchObject({ keys: 'present', boot: 3 })
  // Whoever starts it cannot have it send orders to a broker of his own.
  await enclave.restart('ALPACA_TRADING_URL=http://127.0.0.1:9')
  expect(await healthOf(url)).toMatchObject({ keys: 'awaited' })
  const unasked = await provisionOf(owner, shares[0], { sealKey: await sealKeyNow(), broker })
  expect(await post(unasked)).toBe('broker-unavailable')
  // Its line of the log may come after the answer, and would not come after a kill.
  const logText = () => readFile(join(enclave.directory, 'enclave.log'), 'utf8')
  await eventually('the third refusal', async () => (await logText()).split('broker keys refused').length > 3)
  await enclave.restart(`ALPACA_TRADING_URL=${sandbox.info.brokerUrl}`)
  expect(await healthOf(url)).toMatchObject({ keys: 'present' })
  const sealed = await readFile(join(enclave.directory, 'state', 'sealed-keys'))
  expect(sealed.includes(broker.secretKey)).toBe(false)
  // The sandbox ends all the same while its own enclave starts again.
  await sandbox.enclave().kill()
})
