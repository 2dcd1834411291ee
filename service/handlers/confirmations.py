"""Questions to a person: kept for the page on which they are answered, and their answers taken."""

from sqlalchemy import bindparam, select

from callwright.contract import confirmations as contract
from callwright.service.accounts import confirmations
from callwright.service.accounts.confirmations import Question
from callwright.service.handlers.request_context import RequestContext, handles
from callwright.service.platform.clock.clock import moment
from callwright.service.platform.money import micros
from callwright.service.tables.schema import deployments

PAGE = "/confirmations"
"""The page on which people answer, below the service's own address."""
_DEPLOYMENT = select(deployments.c.id).where(
    deployments.c.id == bindparam("id"), deployments.c.org_id == bindparam("org")
)


@handles(contract.ask_confirmation)
def ask_confirmation(asked: contract.AskConfirmation, context: RequestContext) -> contract.Confirmation:
    """Where the question stands. A yes or no is given once; nobody but a person at the dashboard gives one."""
    if asked.deployment_id is not None:
        context.one(_DEPLOYMENT, field="deployment_id", id=asked.deployment_id)
    cost = None if asked.cost_at_most is None else micros(asked.cost_at_most.amount)
    question = Question(asked.tool, asked.about, asked.mark, asked.question, asked.deployment_id, asked.people, cost)
    does = confirmations.withdraw if asked.agreed_in_conversation else confirmations.ask
    stands = does(context.connection, context.ids, context.org_id, context.principal.actor, question, context.now_ms)
    return contract.Confirmation(
        id=stands.id,
        status=stands.status,
        mark=stands.mark,
        url=f"{context.own_address.root}{PAGE}/{stands.id}",
        asked_at=moment(stands.asked_at_ms),
        expires_at=moment(stands.ends_at_ms),
        is_late=stands.is_late,
    )
