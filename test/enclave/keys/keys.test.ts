import { format, inspect } from 'node:util'
import { expect, it } from 'vitest'
import { readConfig } from '../../../src/enclave/config.js'
import { createKeys, type EnclaveKeys } from '../../../src/enclave/keys/keys.js'
import { type Envelope, ORDER_PLACE, seal } from '../../../src/protocol/envelope.js'
import { ProtocolError } from '../../../src/protocol/errors.js'
import { type Hex, hexToBytes } from '../../../src/protocol/hex.js'
import { publicKeyOf } from '../../../src/protocol/publicKey.js'
import { Secret } from '../../../src/service/secret.js'
import { enclaveEnvironment } from '../support/environment.js'
import { ENCLAVE_KEYS, KEYS } from '../support/parties.js'

/** Everything that a log line, a console or an error could make of a value. */
function printed(value: object): string {
  const failure = new Error('it failed', { cause: value })
  return [
    JSON.stringify(value, (_key, each: unknown) => (typeof each === 'bigint' ? `${each}` : each)),
    inspect(value, { depth: null, showHidden: true, getters: true }),
    format('%o %O %s', value, value, value),
    inspect(Object.assign(failure, value), { depth: null, showHidden: true }),
    `${Object.values(value)}`,
    inspect(Object.getOwnPropertyDescriptors(value), { depth: null, showHidden: true }),
  ].join('\n')
}

/** The keys in each form that they could appear in. */
const FORMS = Object.values(KEYS).flatMap((key) => {
  const bytes = hexToBytes(key)
  const first = [...bytes.slice(0, 8)]
  return [key.slice(2), Buffer.from(bytes).toString('base64'), first.join(','), first.join(', ')]
})
const SECRETS = {
  master: new Secret(KEYS.master),
  intent: new Secret(KEYS.intent),
  signing: new Secret(KEYS.signing),
}

it.each([
  ['their operations', ENCLAVE_KEYS],
  ['an enclave’s dependencies', { keys: ENCLAVE_KEYS, open: ENCLAVE_KEYS.open }],
  ['the configuration', readConfig(enclaveEnvironment)],
])('the enclave’s keys are in nothing that prints %s', (_, value) => {
  const text = printed(value)
  for (const form of FORMS) expect(text).not.toContain(form)
})

it('the enclave’s keys are in no error of an operation', async () => {
  const envelope = { epk: '0x02', iv: '0x', ct: '0x', tag: '0x' } as never
  const failures = await Promise.allSettled([
    ENCLAVE_KEYS.open.intent(envelope),
    ENCLAVE_KEYS.open.rulebook(envelope),
    (async () => ENCLAVE_KEYS.sign({} as never, {} as never))(),
    (async () => ENCLAVE_KEYS.ledgerKey('org', 'nothing' as never))(),
    (async () => createKeys({ ...SECRETS, master: new Secret(`${KEYS.master}zz` as Hex) }))(),
  ])
  expect(new Set(failures.map(({ status }) => status))).toEqual(new Set(['rejected']))
  const text = failures.map((failure) => inspect(failure, { depth: null, showHidden: true })).join('\n')
  for (const form of FORMS) expect(text).not.toContain(form)
})

it('keys of former programs open what was sealed to them, and no other key does', async () => {
  const former = new Secret<Hex>(`0x${'d4'.repeat(32)}`)
  const codeOf = async (keys: EnclaveKeys, envelope: Envelope) => {
    const error: unknown = await keys.open.intent(envelope).catch((reason: unknown) => reason)
    return error instanceof ProtocolError ? error.code : 'opened'
  }
  const sealed = (key: Hex) => seal('no order', publicKeyOf(hexToBytes(key)), ORDER_PLACE)
  const toFormer = await sealed(former.reveal())
  const upgraded = createKeys({ ...SECRETS, former: [former] })
  // What opens is no order: its schema refuses it.
  expect(await codeOf(upgraded, toFormer)).toBe('opened')
  expect(await codeOf(upgraded, await sealed(KEYS.intent))).toBe('opened')
  expect(await codeOf(createKeys(SECRETS), toFormer)).toBe('undecryptable')
  expect(await codeOf(upgraded, await sealed(KEYS.signing))).toBe('undecryptable')
})
