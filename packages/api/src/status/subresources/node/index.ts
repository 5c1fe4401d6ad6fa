export {
  type NodeRequest,
  nodeRequestPath,
  parseNodeRequest,
  type UnroutedRequest,
} from "./node-request.ts";
export {
  isNodeSubresource,
  maxNodeRequestBody,
  maxStreamMessage,
  type NodeRoute,
  type NodeSubresource,
  nodeAgentPort,
  nodeRoutes,
  streamCloseCodes,
  streamHandshakeTimeout,
  streamProtocol,
  vmiUidHeader,
} from "./node-route.ts";
