import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import { BASE_UNITS } from '../../../shared/domain/units.ts';
import type { Access } from '../../access/access.ts';
import { rateLimitExceeded } from '../../access/limits/request-account.ts';
import type { Principal } from '../../access/limits/tiers.ts';
import type { Quota } from '../../access/quota/quota-window.ts';
import type { RouteContext } from '../../routes/routing/route.ts';
import type { AllowedSources } from '../engine/allowed-sources.ts';
import type { EngineRequest, EngineResponse, UpgradeContext } from '../engine/engine.ts';
import { type PendingResponses, Reply } from '../engine/reply.ts';
import type { AnswerCounts } from '../rest/answer-counts.ts';
import { isForwardedByStranger } from '../rest/hit-path.ts';
import { checkStarted } from '../rest/path-kinds.ts';
import { rateLimitHeaders } from '../rest/response-headers.ts';
import { type ErrorResponseOptions, errorResponse } from '../rest/responses.ts';
import { recordUsage, usageOutcomeOf } from '../rest/usage-metering.ts';
import { StreamCaller, type StreamPath } from './stream-caller.ts';
import { checkWebSocketHandshake, readSubprotocolOffer, withApiKey } from './websocket-handshake.ts';

export interface StreamUpgradeOptions extends ErrorResponseOptions {
  readonly access: Access;
  readonly pendingResponses: PendingResponses;
  readonly sources: AllowedSources;
  readonly answerCounts: AnswerCounts;
  readonly context: Pick<RouteContext, 'startupProblem' | 'isDraining'>;
}

type Upgrade = (res: EngineResponse, req: EngineRequest, context: UpgradeContext) => void;

/** Checks the target of a request; returns what makes the data of its socket. Throws GatewayError. */
type Prepare<Data> = (req: EngineRequest) => (caller: StreamCaller) => Data;

/**
 * Creates the handler that accepts the WebSockets of a path, or refuses them with an HTTP error before the upgrade.
 */
export function createStreamUpgrade<Data>(
  options: StreamUpgradeOptions,
  path: StreamPath,
  prepare: Prepare<Data>,
): Upgrade {
  const { access, sources, answerCounts, pendingResponses } = options;
  return (res, req, context) => {
    let quota: Quota = access.rateLimiter.peek(new ArrayBuffer(4));
    let principal: Principal | undefined;
    let giveBack = (): Quota => quota;
    let caller: StreamCaller | undefined;
    try {
      const address = access.clientIp.resolve(res, req);
      const fault = sources.findFault(req);
      if (fault !== undefined) throw new GatewayError('invalid_request', fault);
      const offer = readSubprotocolOffer(req);
      const authenticated = access.authenticator.authenticate(withApiKey(req, offer.apiKey), () => address);
      principal = authenticated instanceof GatewayError ? undefined : authenticated;
      quota = { ...access.rateLimiter.consume(address, BASE_UNITS, principal) };
      if (!quota.allowed) throw rateLimitExceeded(quota);
      giveBack = () => access.rateLimiter.giveBack(address, BASE_UNITS, principal);
      if (options.context.isDraining()) throw new GatewayError('shutting_down', 'the gateway is shutting down');
      checkWebSocketHandshake(req);
      const createData = prepare(req);
      if (offer.fault !== undefined) throw new GatewayError('invalid_request', offer.fault);
      if (authenticated instanceof GatewayError) throw authenticated;
      checkStarted('stream', options.context);
      caller = new StreamCaller(access, path, address, authenticated);
      res.writeStatus('101 Switching Protocols');
      for (const [name, value] of rateLimitHeaders(quota)) res.writeHeader(name, value);
      res.upgrade(
        createData(caller),
        req.getHeader('sec-websocket-key'),
        offer.subprotocol, // never what the client names, which may be a key; with '' the engine sends no such header
        '', // no extension
        context,
      );
      answerCounts.countStatus(path, 101);
      recordUsage(access.usage, principal, path, 'answered', BASE_UNITS);
    } catch (thrown) {
      caller?.streamSlot.release();
      const { status, code } = GatewayError.from(thrown);
      if (status === 429) quota = giveBack();
      answerCounts.countStatus(path, status);
      answerCounts.countError(code);
      recordUsage(access.usage, principal, path, usageOutcomeOf(thrown), status === 429 ? 0 : BASE_UNITS);
      if (status === 429 && isForwardedByStranger(req, res, access.clientIp))
        answerCounts.countUntrustedForwarded(res.getRemoteAddress());
      new Reply(res, pendingResponses).sendAndClose(errorResponse(quota, thrown, options, req.getUrl()));
    }
  };
}
