// A program whose hole was found, as processes: the operator would like to go on with it.
import { expect, it, onTestFinished } from 'vitest'
import { measurementOf } from '../../src/attestation/policy.js'
import { startSandbox } from '../../src/sandbox/sandbox.js'
import { eventually } from '../support/eventually.js'
import { operate } from '../support/operate.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'
import { QUICK } from '../support/tradingSandbox.js'

it('the guardian revokes an attested program, and its operator restarts it: it has no keys until people give them', async () => {
  const directory = await temporaryDirectory()
  const sandbox = await startSandbox({
    ...{ directory, keys: 'born', print: () => undefined },
    ports: { server: 0, rpc: 0, broker: 0 },
    blockTime: QUICK.blockTime,
    serverSettings: QUICK.server,
    enclaveSettings: QUICK.enclave,
  })
  onTestFinished(() => sandbox.stop())
  const { info, accounts, attested } = sandbox
  const measurement = await measurementOf('pcrs', attested?.programs[0]?.pcrs ?? {})
  const bootOf = async () => {
    const health = await (await fetch(`${info.enclaveUrl}/health`)).json()
    return { boot: health.boot, keys: health.keys }
  }
  const restarted = (boot: number) =>
    eventually(`start ${boot}`, async () => {
      const health = await bootOf().catch(() => undefined)
      return health?.boot === boot && health
    })

  await sandbox.enclave()?.kill()
  expect(await restarted(2)).toEqual({ boot: 2, keys: 'present' })
  const env = { RPC_URL: info.rpcUrl, GUARDIAN_PRIVATE_KEY: accounts.guardian.privateKey }
  const revoked = await operate(['revoke', measurement, '--yes', '--directory', directory], { env })
  expect(revoked, revoked.err).toMatchObject({ exit: 0 })
  await sandbox.enclave()?.kill()
  expect(await restarted(3)).toEqual({ boot: 3, keys: 'awaited' })
})
