// An attested enclave reports at its door to the owner alone. test/e2e/upgrade.test.ts has the operator's commands that ask it.
import { expect, it } from 'vitest'
import { actionReportSchema } from '../../src/protocol/actionReport.js'
import { problemSchema } from '../../src/protocol/api.js'
import { enclaveReportSchema } from '../../src/protocol/finding.js'
import { hexToBytes } from '../../src/protocol/hex.js'
import { orderReportSchema } from '../../src/protocol/resolution.js'
import { signRunMessage } from '../../src/protocol/runMessage.js'
import { openReport, sealedReportSchema } from '../../src/protocol/sealedReport.js'
import { clientOf, runDemo } from '../../src/sandbox/demo.js'
import { startBorn } from '../support/attestedEnclaves.js'
import { eventually } from '../support/eventually.js'

it('reports are for who has the secret of jobs and the first holder’s key, and name no order that a run may end', async () => {
  const { sandbox, attested, url: enclaveUrl, domain } = await startBorn()
  const { info, secrets } = sandbox
  const [owner = '0x', second = '0x'] = attested.holders
  let round = 0
  const ask = async (request: object, { secret = secrets.triggerSecret, sent = request } = {}) => {
    const runId = `00000000-0000-4000-8000-${String(round++).padStart(12, '0')}`
    const headers = signRunMessage(secret, { kind: 'report', runId, body: JSON.stringify(request) })
    const response = await fetch(`${enclaveUrl}/report`, {
      method: 'POST',
      headers: { ...headers },
      body: JSON.stringify(sent),
    })
    const answer: unknown = await response.json()
    return response.ok ? sealedReportSchema.parse(answer).envelope : problemSchema.parse(answer).code
  }
  const opened = async (request: object) => {
    const envelope = await ask(request)
    if (typeof envelope === 'string') throw new Error(envelope)
    await expect(openReport(envelope, hexToBytes(second), domain)).rejects.toThrow()
    return openReport(envelope, hexToBytes(owner), domain)
  }
  await runDemo(sandbox, () => undefined)

  expect(await ask({}, { secret: `whsec_${'A'.repeat(32)}` })).toBe('run-unauthorized')
  expect(await ask({}, { sent: { money: true } })).toBe('run-unauthorized')
  expect(await ask({ actions: true, money: true })).toBe('invalid-body')
  const both = await Promise.all([ask({ money: true }), ask({ money: true })])
  expect(both.filter((answer) => answer === 'busy')).toHaveLength(1)
  expect(await ask({ order: `0x${'01'.repeat(32)}` })).toBe('order-not-overdue')

  const { findings, facts } = enclaveReportSchema.parse(await opened({ money: true }))
  expect(findings.filter(({ result }) => result === 'fault')).toEqual([])
  const checks = findings.filter(({ result }) => result === 'ok').map(({ check }) => check)
  expect(checks).toEqual(expect.arrayContaining(['master-key', 'money', 'broker-alone', 'relay']))
  expect(facts).toMatchObject({ intentPublicKey: secrets.intentPublicKey, signer: secrets.enclaveSigner })
  expect(actionReportSchema.parse(await opened({ actions: true }))).toMatchObject({ chainId: info.chainId })

  // An order that no run ends: the broker holds it, and no server is there.
  sandbox.broker.fill({ mode: 'hold' })
  const { timestamp = 0 } = (await sandbox.provider.getBlock('latest')) ?? {}
  const terms = { side: 'BUY', symbol: 'MSFT', usdc: 50_000_000n, deadline: timestamp + 600 } as const
  const client = clientOf(sandbox, sandbox.accounts.employees[0])
  await client.unlock()
  const { orderId } = (await client.placeOrder(terms)).order
  await eventually('the order waits at the broker', () =>
    sandbox.broker.orders().some(({ symbol }) => symbol === 'MSFT'),
  )
  await sandbox.server().kill()
  expect(await ask({ order: orderId })).toBe('order-not-overdue')
  await sandbox.provider.send('evm_increaseTime', [2 * 86_400])
  const report = await eventually('the block of two days later', async () => {
    const answer = await ask({ order: orderId })
    return typeof answer !== 'string' && openReport(answer, hexToBytes(owner), domain)
  })
  expect(orderReportSchema.parse(report)).toMatchObject({ orderId, state: 'OPEN', entry: { symbol: 'MSFT' } })
})
