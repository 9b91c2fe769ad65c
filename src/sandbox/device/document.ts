export { authority, DIGITAL_SIGNATURE, publicKey } from '../../simulator/device/document.js'
