//! Rules, dashboards and runbooks.
