// The bundling test must find this import of a Node module.
export { createHash } from 'node:crypto'
