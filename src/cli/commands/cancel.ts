import type { Hex } from '../../client/index.js'
import { EXIT } from '../../service/exitCodes.js'
import { anId } from '../../terminal/arguments.js'
import type { AddCommand } from '../context.js'
import { withWallet } from '../input/connection.js'
import { addWalletCommand, type WalletOptions } from '../input/options.js'
import { addFollowing, conclude, type Following } from './orderReport.js'

const ABOUT = `An order that waits is refunded. One that is live at the broker is cancelled there: a part that was filled is settled, and the exit code is 3 then. A cancel cannot be taken back.`

export const addCancel: AddCommand = (root, context) => {
  const command = addWalletCommand(
    root,
    'cancel',
    'cancels an open order and follows it until it ends',
    ABOUT,
  )
  addFollowing(command, 'ends once the server has the cancel')
    .argument('<orderId>', 'its id', anId)
    .action((orderId: Hex, options: WalletOptions & Following) =>
      withWallet(options, context.env, async (client) => {
        const { result } = await client.cancelOrder(orderId, { signal: context.signal })
        context.terminal.progress(
          result === 'received' ? 'the server has the cancel' : 'the server had a cancel already',
        )
        await conclude(orderId, client, context, options, ({ state }) =>
          state === 'REFUNDED' ? EXIT.done : EXIT.refused,
        )
      }),
    )
}
