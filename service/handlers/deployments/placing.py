"""Placing one call: an audience of one row, and a deployment that calls it."""

from sqlalchemy import bindparam, select

from callwright.contract.audiences import CreateAudience
from callwright.contract.deployments import placing as contract
from callwright.contract.deployments.deployments import CreateDeployment, Deployment
from callwright.contract.deployments.settings import SETTINGS
from callwright.contract.problems import COMPLIANCE_REJECTED
from callwright.service.campaigns.start_guards import missing_columns
from callwright.service.dialling.eligibility.do_not_call import entry_of
from callwright.service.dialling.eligibility.gate import DO_NOT_CALL
from callwright.service.handlers import audiences as audience_handlers
from callwright.service.handlers import phone_numbers as number_handlers
from callwright.service.handlers.agents import agents as agent_handlers
from callwright.service.handlers.deployments.deployments import create_deployment
from callwright.service.handlers.request_context import RequestContext, handles
from callwright.service.platform.refusals import Refusal, invalid
from callwright.service.tables.schema import audience_rows

_PHONE_COLUMN = "phone_number"
_NUMBER = select(audience_rows.c.phone).where(audience_rows.c.audience_id == bindparam("audience"))
_LISTED = (
    "to: the number is on the do-not-call list{of_simulated}, for the reason {reason}, so it is not called; "
    "list_do_not_call says since when. Only if the person wants to be called again, remove the entry {entry}"
)


@handles(contract.place_call)
def place_call(asked: contract.PlaceCall, context: RequestContext) -> Deployment:
    """A deployment of one person. It passes the same gate, plan and wallet as any other."""
    agent = agent_handlers.find(context, asked.agent_id, field="agent_id")
    if _PHONE_COLUMN in asked.variables:
        raise invalid("variables", f"holds {_PHONE_COLUMN}, which is given as `to`")
    name = f"One call by {agent.name[:80]}, {context.ids.new('one')}"
    rows = [{_PHONE_COLUMN: asked.to, **asked.variables}]
    made = audience_handlers.create_audience(CreateAudience(name=name, phone_column=_PHONE_COLUMN, rows=rows), context)
    if made.errors:
        wrong = made.errors[0]
        raise invalid("to" if wrong.column in (None, _PHONE_COLUMN) else "variables", wrong.message)
    audience = audience_handlers.find(context, made.id)
    number = number_handlers.find(context, asked.phone_number_id, field="phone_number_id")
    _check_not_listed(context, audience.id, simulated=bool(number.simulated))
    if missing := missing_columns(agent, audience, asked.voicemail.message_template):
        raise invalid("variables", f"has no value for {{{{{missing[0]}}}}}, which the agent's words need")
    settings = asked.model_dump(include={*SETTINGS, "agent_id", "phone_number_id", "auto_start", "budget_cap"})
    return create_deployment(CreateDeployment(name=name, audience_id=made.id, max_concurrency=1, **settings), context)


def _check_not_listed(context: RequestContext, audience_id: str, *, simulated: bool) -> None:
    """Raises `Refusal` if the number, as it was read, is on the do-not-call list that the call would obey."""
    number: str = context.connection.execute(_NUMBER, {"audience": audience_id}).scalar_one()
    entry = entry_of(context.connection, context.org_id, number, simulated=simulated, now_ms=context.now_ms)
    if entry is None:
        return
    of_simulated = " of the simulated network" if entry.simulated else ""
    message = _LISTED.format(of_simulated=of_simulated, reason=entry.reason, entry=entry.id)
    raise Refusal(COMPLIANCE_REJECTED, message, field="to", details={"reasons": [DO_NOT_CALL]})
