import type { Interface } from 'ethers'
import { expect, test } from 'vitest'
import { nameToBytes32 } from '../../../src/protocol/identifiers.js'
import { topicsOf, WATCHED } from '../../../src/server/narrator/events.js'
import { formatTime } from '../../../src/server/narrator/format.js'
import {
  batchBurn,
  batchMint,
  policyUpdate,
  refund,
  settlement,
  signedCall,
} from '../../support/authorizations.js'
import { INTERFACES, useChain } from '../../support/chain.js'
import { eventually } from '../../support/eventually.js'
import { bytes32, ORG, setUpInstitution, shares, soon, USDC, usd } from '../../support/institution.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { narratorAtHead, untimed } from './narratorUnderTest.js'

const chain = useChain(setUpInstitution)

/** What must not be told: names, in any spelling, and everything that identifies somebody. */
const CANARY_ORG = 'Canary Capital'
const CANARY_SYMBOL = 'CANARY'
const SYMBOL = nameToBytes32(CANARY_SYMBOL)

test('the table has the thirteen events that our contracts declare, and none that they inherit', () => {
  const inherited = new Set([
    'EIP712DomainChanged',
    'OwnershipTransferStarted',
    'OwnershipTransferred',
    'Transfer',
    'Approval',
    'OperatorSet',
  ])
  const own = (contract: Interface) =>
    contract.fragments
      .filter((fragment) => fragment.type === 'event')
      .map((fragment) => contract.getEvent(fragment.format()))
      .filter((event) => event !== null && !inherited.has(event.name))
      .map((event) => event?.topicHash)
  const { registry, escrow, ledger, token, pool } = INTERFACES
  const declared = [registry, escrow, ledger, token, pool].map(own)
  expect(WATCHED.map((contract) => topicsOf(contract).toSorted())).toEqual(
    declared.map((topics) => topics.toSorted()),
  )
  expect(declared.flat()).toHaveLength(13)
})

async function everyEvent(): Promise<{ deadline: number }> {
  const { send, account } = chain()
  const relayed = (authorization: Parameters<typeof signedCall>[1]) =>
    send('relayer', ...signedCall(chain(), authorization))
  const deadline = await soon(chain())
  await send('dave', 'registry', 'registerInstitution', nameToBytes32(CANARY_ORG))
  await send('admin', 'registry', 'transferAdmin', account('alice'))
  await send('alice', 'registry', 'acceptAdmin', ORG)
  await send('alice', 'registry', 'setMember', account('bob'), false)
  await send('owner', 'token', 'setKyc', account('dave'), true)
  await send('owner', 'token', 'setListed', SYMBOL, true)
  await send('owner', 'token', 'setFrozen', SYMBOL, account('dave'), true)
  await send('alice', 'escrow', 'openBuy', bytes32('canary 1'), bytes32('sealed'), usd(1_000), deadline)
  await relayed(settlement(bytes32('canary 1'), { payoutAsset: USDC, payout: usd(250) }))
  await relayed(policyUpdate(ORG, account('alice')))
  await relayed(batchMint(SYMBOL, shares(5)))
  await relayed(batchBurn(SYMBOL, shares(2), { expectedSupply: shares(5), batch: 2n }))
  await send('alice', 'escrow', 'openRequest', bytes32('canary 2'), bytes32('sealed'), deadline)
  await relayed(settlement(bytes32('canary 2'), { payoutAsset: SYMBOL, payout: 1_234_567_890n, version: 2n }))
  await send('alice', 'escrow', 'openBuy', bytes32('canary 3'), bytes32('sealed'), 12_345_678n, deadline)
  await relayed(refund(bytes32('canary 3'), { version: 3n }))
  return { deadline }
}

test('each event is one line of amounts, deadlines and versions, in chain order, and nothing else', async () => {
  const narrator = await narratorAtHead({ chain: chain(), dataDir: await temporaryDirectory() })
  const firstBlock = (await chain().provider.getBlockNumber()) + 1
  const { deadline } = await everyEvent()
  await eventually('the last event', () => narrator.lines.at(-1)?.includes('portfolio updated  version 3'))
  const until = formatTime(BigInt(deadline))
  expect(narrator.lines.map(untimed)).toEqual([
    '[registry] institution registered',
    // The admin changes places with the member that takes over.
    '[registry] member updated',
    '[registry] member updated',
    '[registry] admin transferred',
    '[registry] member updated',
    '[token] kyc updated',
    '[token] listing updated',
    '[token] freeze updated',
    `[escrow] order opened  1,000.00 USDC  deadline ${until}`,
    '[escrow] order settled  1,000.00 USDC  payout 250.00 USDC',
    '[ledger] portfolio updated  version 1',
    '[ledger] rulebook updated  version 1',
    '[pool] batch minted  5.000000000 shares  supply 5.000000000 shares',
    '[pool] batch burned  2.000000000 shares  supply 3.000000000 shares',
    `[escrow] order opened  0.00 USDC  deadline ${until}`,
    '[escrow] order settled  0.00 USDC  payout 1.234567890 shares',
    '[ledger] portfolio updated  version 2',
    `[escrow] order opened  12.345678 USDC  deadline ${until}`,
    '[escrow] order refunded  12.345678 USDC',
    '[ledger] portfolio updated  version 3',
  ])
  const first = await chain().provider.getBlock(firstBlock)
  expect(narrator.lines[0]).toContain(formatTime(BigInt(first?.timestamp ?? 0)))
  // Not one hex digit string of an identifier, nor a name, in lines or log.
  const text = `${narrator.lines.join('\n')}\n${narrator.log.text()}`
  expect(text).not.toMatch(/0x|canary|[0-9a-f]{16}/i)
})
