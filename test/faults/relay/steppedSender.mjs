// The server's own sender, which kills or stops the process at the steps that the storm has planned.
import { createReached } from '../engine/steps.mjs'

const { FAULTS_SEND_FIRST, FAULTS_LOSE_NO_OPS } = process.env
// Loaded before the first step, and only where it is needed: it takes a third of a second.
const { Transaction } = FAULTS_LOSE_NO_OPS === 'yes' ? await import('ethers') : {}
const reached = createReached()

/** @param createOwnSender the server's own */
export function createSteppedSender(createOwnSender, options) {
  const broadcaster = {
    async send(transaction) {
      const reception = await options.broadcaster.send(transaction)
      reached('sent')
      return reception
    },
  }
  const sender = createOwnSender({ ...options, broadcaster })
  return {
    ...sender,
    async write(call, nonce, owner) {
      reached('nonce-chosen')
      const tx = await sender.write(call, nonce, stepped(owner, broadcaster))
      void tx.mined.then(() => reached('seen'))
      return tx
    },
  }
}

function stepped(owner, broadcaster) {
  return {
    ...owner,
    async save(transaction) {
      reached('signed')
      // Breaks the write-ahead rule on purpose: the storm has to notice.
      if (FAULTS_SEND_FIRST === 'yes') await broadcaster.send(transaction)
      const isLost = Transaction !== undefined && Transaction.from(transaction.raw).data === '0x'
      if (!isLost) await owner.save(transaction)
      reached('saved')
    },
  }
}
