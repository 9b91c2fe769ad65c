import type { Command } from '../command.js'
import { EXIT } from '../exitCodes.js'
import { readArguments, readId, WALLET_OPTIONS } from '../input/arguments.js'
import { connectWallet } from '../input/connection.js'
import { conclude, readTimeout } from './orderReport.js'

export const cancelCommand: Command = {
  name: 'cancel',
  summary: 'cancels an open order and follows it until it ends',
  help: `cancel <orderId> [options]

An order that waits is refunded. One that is live at the broker is cancelled there: a part that was filled is settled, and the
exit code is 3 then. A cancel cannot be taken back.

  --no-wait                ends once the server has the cancel
  --timeout <duration>     stops following after this time, up to 24d, with exit code 4; the cancel stands`,
  usesWallet: true,
  async run(args, context) {
    const { values, positionals } = readArguments(args, {
      ...WALLET_OPTIONS,
      'no-wait': { type: 'boolean', default: false },
      timeout: { type: 'string' },
    })
    const orderId = readId(positionals, 'orderId')
    const timeoutMs = values.timeout === undefined ? undefined : readTimeout(values.timeout)
    const connection = await connectWallet(values, context.env)
    try {
      const { client } = connection
      const { result } = await client.cancelOrder(orderId, { signal: context.signal })
      context.terminal.progress(
        result === 'received' ? 'the server has the cancel' : 'the server had a cancel already',
      )
      return await conclude(orderId, {
        ...{ client, context, timeoutMs },
        wait: !values['no-wait'],
        exitOf: ({ state }) => (state === 'REFUNDED' ? EXIT.done : EXIT.refused),
      })
    } finally {
      connection.close()
    }
  },
}
