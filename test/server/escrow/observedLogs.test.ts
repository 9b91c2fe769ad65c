import { expect, test } from 'vitest'
import type { EscrowEvent } from '../../../src/server/escrow/escrowLogs.js'
import { useChain } from '../../support/chain.js'
import { eventually } from '../../support/eventually.js'
import { openRequest, setUpInstitution } from '../../support/institution.js'
import { createScriptedEnclave } from '../../support/scriptedEnclave.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { startTrigger } from '../../support/triggerHarness.js'

const chain = useChain(setUpInstitution)

test('the observer gets what the poller reads: the heads, and the events of before and after the start', async () => {
  const directory = await temporaryDirectory()
  const heads: number[] = []
  const events: EscrowEvent[] = []
  const early = await openRequest(chain(), 'alice', 'early')
  await startTrigger(chain(), await createScriptedEnclave(directory), `${directory}/data`, {
    escrowObserver: {
      onHead: ({ number }) => heads.push(number),
      onEvents: (seen) => events.push(...seen),
    },
  })
  await eventually('the first order', () => events.some(({ orderId }) => orderId === early))
  const late = await openRequest(chain(), 'alice', 'late')
  const head = await chain().provider.getBlockNumber()
  await eventually('the later order', () => events.some(({ orderId }) => orderId === late))
  expect(heads).toContain(head)
})
