import { SHARE_DECIMALS, USDC_DECIMALS } from '../../client/index.js'
import { type ReceiptFault, type ReceiptVerdict, verifyReceipt } from '../../client/receipt/index.js'
import { addressSchema } from '../../protocol/address.js'
import { PRICE_DECIMALS } from '../../protocol/units.js'
import { EXIT } from '../../service/exitCodes.js'
import { usage } from '../../terminal/failure.js'
import { type Cell, fields, shownTime } from '../../terminal/render.js'
import type { Report } from '../../terminal/terminal.js'
import type { AddCommand } from '../context.js'
import { connectProvider, parsed } from '../input/connection.js'
import { addCommonOptions, type NodeOptions, RPC_OPTION } from '../input/options.js'
import { readJson } from '../input/rulebookFile.js'

const ABOUT = `Compares a receipt of "order --receipt", or of the page, with the chain: what the account ordered, that it signed it, when the order was opened and how it ended. It needs a node and the escrow's address, from a source other than the receipt, and no key. It shows neither shares nor costs of a fill, and nothing of the account's balances or other orders.

Ends with 0 verified; 3 not verified; 2 unreadable, or wrong arguments; 5 node unavailable.`

const FAULTS: Readonly<Record<ReceiptFault, string>> = {
  'other-chain': 'It is of another chain than the node’s.',
  'other-escrow': 'It is of another escrow than the one given.',
  'unknown-order': 'The escrow has no order of its id: it was never opened, or the node is behind.',
  'other-commit': 'The escrow is committed to another content.',
  'does-not-open': 'Its key does not open its content as an order.',
  'other-order': 'Its content is an order of another id, account or deadline than the escrow’s.',
  'not-signed': 'The account’s signature does not fit. A contract wallet may have changed its signers since.',
}

interface Options extends NodeOptions {
  readonly escrow?: string
}

export const addVerifyReceipt: AddCommand = (root, { env, terminal, signal, endWith }) => {
  const command = root.command('verify-receipt').summary('compares the receipt of an order with the chain')
  addCommonOptions(command.description(ABOUT))
    .argument('<file>', 'the receipt, as JSON')
    .option(...RPC_OPTION)
    .option('--escrow <address>', 'the contract OrderEscrow of the deployment (TRADING_ESCROW)')
    .action(async (file: string, options: Options) => {
      const given = options.escrow ?? env.TRADING_ESCROW
      if (!given) throw usage('give --escrow, or set TRADING_ESCROW')
      const escrow = parsed(addressSchema, given, '--escrow')
      const receipt = await readJson(file)
      const provider = await connectProvider(options, env)
      try {
        const node = {
          request: ({ method, params }: { method: string; params: unknown[] }) =>
            provider.send(method, params),
        }
        const verdict = await verifyReceipt(receipt, { node, escrow, signal })
        terminal.result(reportOf(verdict))
        if (verdict.outcome !== 'verified')
          endWith(verdict.outcome === 'unreadable' ? EXIT.usage : EXIT.refused)
      } finally {
        provider.destroy()
      }
    })
}

function reportOf(verdict: ReceiptVerdict): Report {
  if (verdict.outcome === 'verified') return verifiedReport(verdict)
  const reason =
    verdict.outcome === 'unreadable'
      ? 'The file is no receipt of a format that this version reads.'
      : FAULTS[verdict.code]
  return {
    json: verdict,
    blocks: [
      fields([
        ['outcome', verdict.outcome],
        ['because', reason],
      ]),
    ],
  }
}

function verifiedReport({
  outcome,
  order,
  opened,
  ended,
}: Extract<ReceiptVerdict, { outcome: 'verified' }>): Report {
  const { orderId, account, institution, side, symbol, limit, deadline, state, escrowed } = order
  const { usdc, shares } = order
  const amount: Cell =
    usdc === undefined
      ? { units: shares, decimals: SHARE_DECIMALS, unit: symbol }
      : { units: usdc, decimals: USDC_DECIMALS, unit: 'USDC' }
  const rows: [string, Cell][] = [
    ['outcome', outcome],
    ['order', orderId],
    ['account', account],
    ['institution', institution ?? 'none'],
    ['side', side],
    ['symbol', symbol],
    ['amount', amount],
  ]
  if (limit) {
    rows.push(['limit', { units: limit.price, decimals: PRICE_DECIMALS, unit: 'USD' }])
    rows.push(['time in force', limit.timeInForce])
  }
  rows.push(
    ['escrowed', { units: escrowed, decimals: USDC_DECIMALS, unit: 'USDC' }],
    ['deadline', timeCell(deadline)],
    ['state', state],
    ['opened', opened === null ? 'not found' : `${timeCell(opened.timestamp)} in ${opened.txHash}`],
  )
  if (ended !== null) rows.push(['ended', `${timeCell(ended.timestamp)} in ${ended.txHash}`])
  return { json: { outcome, opened, ended, order }, blocks: [fields(rows)] }
}

const timeCell = (seconds: number) => shownTime(new Date(seconds * 1_000).toISOString())
