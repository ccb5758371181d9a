//! `bench train`: what visitors do, in a minute, for programs that record what of them runs (`cargo xtask profile`).

use std::{net::Ipv4Addr, time::Duration};

use bytes::Bytes;
use testkit::{
    Discard, Keep, Mail, Ports, Shape, Stack, Tls,
    measure::{WITHOUT_LIMITS, observing, pdf, upload, upload_client},
};

use crate::{
    h2load::{self, Http},
    pages,
    wrk::{self, Form},
};

/// How long each is done.
const LASTING: Duration = Duration::from_secs(4);
/// Connections of the load, many and few.
const CONNECTIONS: [u32; 3] = [64, 16, 1];
const RESUME_BYTES: usize = 1_000_000;
/// The addresses of the visitors who apply, one after the other.
const APPLICANTS: std::ops::Range<u32> = 0x0a00_0001..0x0a00_0041;

/// Sends each form, and asks for pages, while the mails go out: in clear without telemetry, and as in production with both.
///
/// # Errors
///
/// If something does not start, or does not take what is sent.
pub async fn train() -> anyhow::Result<()> {
    let collector = Discard::start().await?;
    for (tls, telemetry) in [(Tls::Off, None), (Tls::On, Some(observing(&collector)))] {
        let shape = Shape {
            mail: Mail::Scripted,
            keep: Keep::Identity,
            tls,
            ..Shape::USUAL
        };
        let mut settings = WITHOUT_LIMITS.to_vec();
        settings.extend(telemetry.into_iter().flatten());
        let stack = Stack::start_as(shape, Ports::free()?, &settings).await?;
        visit(&stack).await?;
        stack.stop().await?;
    }
    Ok(())
}

async fn visit(stack: &Stack) -> anyhow::Result<()> {
    let site = stack.site();
    for connections in CONNECTIONS {
        let seed = u64::from(connections);
        for form in [Form::Contact, Form::Newsletter] {
            wrk::send_forms(form, &site, connections, LASTING, seed).await?;
        }
    }
    let (client, resume) = (upload_client()?, Bytes::from(pdf(RESUME_BYTES)));
    for applicant in APPLICANTS {
        upload(&client, &site, &resume, Ipv4Addr::from_bits(applicant)).await?;
    }
    for path in ["/", &pages::largest_script()?] {
        for http in [Http::One, Http::Two] {
            h2load::fetch(&format!("{site}{path}"), http, LASTING, stack.logs()).await?;
        }
    }
    Ok(())
}
