import { z } from 'zod'
import { quantitySchema } from '../../../src/chain/jsonRpc.js'
import { bytes32Schema, type Hex } from '../../../src/protocol/hex.js'
import { INTERFACES, type TestChain } from '../../support/chain.js'

const hexText = z.templateLiteral(['0x', z.string()])
const blockSchema = z.looseObject({
  number: quantitySchema.transform(Number),
  transactions: z.array(
    z.looseObject({ hash: bytes32Schema, from: hexText, to: hexText.nullable(), input: hexText }),
  ),
})
const receiptsSchema = z.array(
  z.looseObject({
    transactionHash: bytes32Schema,
    status: quantitySchema,
    gasUsed: quantitySchema,
    logs: z.array(z.looseObject({ topics: z.array(z.string()), data: z.string() })),
  }),
)

/** A transaction in a block. */
export interface MinedTransaction {
  readonly hash: Hex
  readonly blockNumber: number
  readonly from: string
  readonly to: string | null
  readonly input: string
  readonly succeeded: boolean
  readonly gasUsed: bigint
  /** What the effects in it name: accounts and symbols. */
  readonly subjects: readonly string[]
}

/** Everything that the chain holds now, read block by block. */
export async function readChain({ provider }: TestChain): Promise<MinedTransaction[]> {
  const head = await provider.getBlockNumber()
  const blocks = await Promise.all(
    Array.from({ length: head + 1 }, async (_, number) => {
      const tag = `0x${number.toString(16)}`
      const [block, receipts] = await Promise.all([
        provider.send('eth_getBlockByNumber', [tag, true]),
        provider.send('eth_getBlockReceipts', [tag]),
      ])
      return transactionsOf(blockSchema.parse(block), receiptsSchema.parse(receipts))
    }),
  )
  return blocks.flat()
}

function transactionsOf(
  { number, transactions }: z.output<typeof blockSchema>,
  receipts: z.output<typeof receiptsSchema>,
): MinedTransaction[] {
  return transactions.flatMap(({ hash, from, to, input }) => {
    const receipt = receipts.find(({ transactionHash }) => transactionHash === hash)
    if (receipt === undefined) return []
    const { status, gasUsed, logs } = receipt
    const subjects = logs.flatMap(subjectOf)
    return [{ hash, blockNumber: number, from, to, input, succeeded: status === 1n, gasUsed, subjects }]
  })
}

function subjectOf(log: { topics: string[]; data: string }): string[] {
  const update = INTERFACES.ledger.parseLog(log)
  if (update?.name === 'PortfolioUpdated') return [String(update.args.accountId)]
  const mint = INTERFACES.pool.parseLog(log)
  return mint?.name === 'BatchMinted' ? [String(mint.args.symbol)] : []
}
