// The receipt of one order, for an auditor who gets no key: docs/protocol.md, "Receipt of an order".

export type { Receipt } from '../../protocol/receipt.js'
export { createReceipt } from './createReceipt.js'
export {
  type ReceiptFault,
  type ReceiptOptions,
  type ReceiptOrder,
  type ReceiptVerdict,
  verifyReceipt,
} from './verifyReceipt.js'
