// A program whose hole was found, as processes: the operator would like to go on with it.
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { measurementOf } from '../../src/attestation/policy.js'
import { createStartingVerifier } from '../../src/attestation/starting.js'
import { startBorn } from '../support/attestedEnclaves.js'
import { eventually } from '../support/eventually.js'
import { operate } from '../support/operate.js'

it('the guardian revokes an attested program, and its operator restarts it: it has no keys, and holders give it none', async () => {
  const { sandbox, attested, url } = await startBorn()
  const { directory, info, accounts } = sandbox
  const measurement = await measurementOf('pcrs', attested.programs[0]?.pcrs ?? {})
  const env = { RPC_URL: info.rpcUrl, GUARDIAN_PRIVATE_KEY: accounts.guardian.privateKey }
  const bootOf = async () => {
    const health = await (await fetch(`${url}/health`)).json()
    return { boot: health.boot, keys: health.keys }
  }
  const restarted = (boot: number) =>
    eventually(`start ${boot}`, async () => {
      const health = await bootOf().catch(() => undefined)
      return health?.boot === boot && health
    })

  await sandbox.enclave().kill()
  expect(await restarted(2)).toEqual({ boot: 2, keys: 'present' })
  const revoked = await operate(['revoke', measurement, '--yes', '--directory', directory], { env })
  expect(revoked, revoked.err).toMatchObject({ exit: 0 })
  await sandbox.enclave().kill()
  expect(await restarted(3)).toEqual({ boot: 3, keys: 'awaited' })
  // Their policy still has it, and they take it for the next one.
  const of = (name: string) => join(directory, name)
  const holder = [
    '--share',
    of('holder.share'),
    '--key-file',
    of('holder.key'),
    '--policy',
    of('policy.json'),
  ]
  const provision = [
    'attest',
    'provision',
    '--enclave-url',
    url,
    ...holder,
    '--directory',
    directory,
    '--next',
  ]
  const verify = createStartingVerifier(attested.root, 'test')
  const given = await operate([...provision, '--yes', '--json'], { env, verify })
  expect({ ...given, err: JSON.parse(given.err) }).toMatchObject({
    ...{ exit: 3, out: '', err: { error: { faults: ['revoked-program'] } } },
  })
})
