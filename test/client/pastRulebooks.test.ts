import { Interface } from 'ethers'
import { expect, it } from 'vitest'
import { confidentialLedgerAbi } from '../../src/chain/generated/confidentialLedgerAbi.js'
import { institutionRegistryAbi } from '../../src/chain/generated/institutionRegistryAbi.js'
import { publishedIn } from '../../src/client/past/facts.js'
import type { Hex } from '../../src/protocol/hex.js'

const [ada, ben, cleo] = [
  '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
  '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65',
  '0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc',
] as const
const orgId = `0x${'01'.repeat(32)}`
const ledger = new Interface(confidentialLedgerAbi)
const registry = new Interface(institutionRegistryAbi)

const hex = (text: string): Hex => `0x${text.slice(2)}`

function logOf(contract: Interface, event: string, args: readonly unknown[], blockNumber: number) {
  const { topics, data } = contract.encodeEventLog(event, args)
  const hash: Hex = `0x${blockNumber.toString().padStart(64, '0')}`
  const place = { blockNumber, blockHash: hash, txHash: hash, logIndex: 0, blockTimestamp: undefined }
  return { ...place, address: ada, topics: topics.map(hex), data: hex(data) }
}

it('a rulebook is of the admin of its block, found back from the present one', () => {
  const published = (version: number, block: number) =>
    logOf(ledger, 'PolicyUpdated', [orgId, version], block)
  const transferred = (from: string, to: string, block: number) =>
    logOf(registry, 'AdminTransferred', [orgId, from, to], block)
  const logs = [
    published(1, 1),
    published(2, 2),
    transferred(ada, ben, 3),
    published(3, 4),
    transferred(ben, cleo, 5),
    published(4, 6),
  ]
  const found = publishedIn(logs, cleo).map(({ version, admin, log }) => [version, admin, log.blockNumber])
  expect(found).toEqual([
    [4, cleo, 6],
    [3, ben, 4],
    [2, ada, 2],
    [1, ada, 1],
  ])
})
